/** Reads the type and size of an image from the first bytes of its file, because a declared type cannot be trusted. */

type Picture = { type: 'image/png' | 'image/jpeg' | 'image/webp'; width: number; height: number }

/** The type and size of a PNG, JPEG or WebP. Undefined for anything else, and for a file that is cut off before its size. */
export function readPicture(bytes: Buffer): Picture | undefined {
  try {
    return readPng(bytes) ?? readJpeg(bytes) ?? readWebp(bytes)
  } catch (error) {
    // A read beyond the end means that the file is cut off.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function readPng(bytes: Buffer): Picture | undefined {
  if (!bytes.subarray(0, 8).equals(PNG) || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined
  return { type: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

/** The JPEG markers that begin a frame, which holds the size: C0 to CF except the tables C4 and CC and the reserved C8. */
const isFrame = (mark: number) => mark >= 0xc0 && mark <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(mark)

function readJpeg(bytes: Buffer): Picture | undefined {
  if (bytes.readUIntBE(0, 3) !== 0xffd8ff) return undefined
  let at = 2
  while (bytes.readUInt8(at) === 0xff) {
    const mark = bytes.readUInt8(at + 1)
    if (isFrame(mark))
      return { type: 'image/jpeg', width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

function readWebp(bytes: Buffer): Picture | undefined {
  const has = (text: string, at: number) => bytes.toString('latin1', at, at + text.length) === text
  if (!has('RIFF', 0) || !has('WEBP', 8)) return undefined
  const type = 'image/webp'
  if (has('VP8 ', 12)) return { type, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  if (has('VP8X', 12)) return { type, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (!has('VP8L', 12)) return undefined
  const bits = bytes.readUInt32LE(21)
  return { type, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}
