// `node src/main.ts` serves. With a command it runs that and ends: `migrate` migrates the database, `reconcile` runs the audit,
// `rates import FILE` imports currency rates, `second-factor reset EMAIL` removes a lost second factor, `backup [FILE]`, `restore FILE`,
// and `restore --to MOMENT ARCHIVE`.
const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(`Sluice needs Node 24 or newer, this is ${process.versions.node}: use "npm start" after "npm ci"`)
  process.exit(1)
}
// Imported after the check, because an older Node would stop at newer syntax with an unhelpful message.
const { programToStart } = await import('./server-bundle.ts')
const { run } = (await import(programToStart())) as typeof import('./start.ts')
await run(process.argv[2], process.argv.slice(3))
// Everything has been closed or has used up its time limit.
process.exit()
