/**
 * CSV files that people open in a spreadsheet, written alike by the server and the browser. Text comes from visitors and networks, so every text
 * cell is quoted, and none of it can become a formula. Libraries defuse the start of a cell alone. A program that separates by semicolon or tab
 * does not see a quote behind a comma as the start of a quoted cell, so for it a new cell begins after each separator inside the text.
 */

/**
 * The place where a cell could begin, for any separator and with or without quotes, before what would make it a formula. Apostrophes and quotes
 * before the sign are looked over: programs drop an empty pair of quotes, and the text must stay distinct from one that is defused.
 */
const FORMULA = /(?<=^|[,;\t\r\n])(?=['"]*[=+\-@\t\r＝＋－＠])/g

/** Ordinary text has none of these, and needs no closer look. */
const MAY_BE_FORMULA = /[=+\-@\t\r＝＋－＠]/

/**
 * A cell that holds text: in quotes, with an apostrophe before each formula. Who removes one apostrophe wherever `FORMULA` finds a place has the
 * text again, as docs/reading.md says.
 */
export function textCell(text: string): string {
  const harmless = MAY_BE_FORMULA.test(text) ? text.replace(FORMULA, "'") : text
  return `"${harmless.includes('"') ? harmless.replaceAll('"', '""') : harmless}"`
}

/** A file of lines of cells. A cell is what `textCell` makes, a number of Sluice's own in digits, or empty. */
export function csvFile(lines: readonly (readonly string[])[]): string {
  return lines.map(line => line.join(',')).join('\r\n')
}
