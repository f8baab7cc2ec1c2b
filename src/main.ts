// `node src/main.ts` serves; `… migrate` brings the database up to date and ends; `… reconcile` counts the books again and ends;
// `… rates import FILE` takes in rates of currencies and ends; `… second-factor reset EMAIL` takes a lost one away and ends. `… backup [FILE]` and `… restore FILE` do what they say and end.
const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(`Sluice needs Node 24 or newer, this is ${process.versions.node}: use "npm start" after "npm ci"`)
  process.exit(1)
}
// Imported behind the check: an older Node would stop at the first newer word, with a message that helps nobody.
const { programToStart } = await import('./server-bundle.ts')
const { run } = (await import(programToStart())) as typeof import('./start.ts')
await run(process.argv[2], process.argv.slice(3))
// Whatever is still open by now had its time.
process.exit()
