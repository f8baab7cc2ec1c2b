/** Saves a file through the browser. A string is CSV. */
export function download(name: string, file: string | Blob) {
  const blob = typeof file === 'string' ? new Blob([file], { type: 'text/csv;charset=utf-8' }) : file
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
