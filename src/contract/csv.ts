/**
 * CSV files for spreadsheets, written by the server and the browser. Text comes from visitors and networks, so each text cell is quoted, and none can
 * become a formula. Libraries defuse only the start of a cell. That is not enough: a program that separates by semicolon or tab does not see a quote
 * after a comma as the start of a quoted cell, so for it a new cell begins after each separator inside the text.
 */

/**
 * Each place where a cell could begin, for any separator and with or without quotes, before a sign that would make it a formula. Apostrophes and
 * quotes before the sign are skipped: programs drop an empty pair of quotes, and each text must stay distinct from a defused one.
 */
const FORMULA = /(?<=^|[,;\t\r\n])(?=['"]*[=+\-@\t\r＝＋－＠])/g

/** Text without any of these signs cannot hold a formula. */
const MAY_BE_FORMULA = /[=+\-@\t\r＝＋－＠]/

/**
 * A cell of text: in quotes, with an apostrophe before each formula. Removing one apostrophe at each place that `FORMULA` finds restores the text, as
 * docs/reading.md says.
 */
export function textCell(text: string): string {
  const harmless = MAY_BE_FORMULA.test(text) ? text.replace(FORMULA, "'") : text
  return `"${harmless.includes('"') ? harmless.replaceAll('"', '""') : harmless}"`
}

/** A file of lines of cells. Each cell is a result of `textCell`, a number, or empty. */
export function csvFile(lines: readonly (readonly string[])[]): string {
  return lines.map(line => line.join(',')).join('\r\n')
}
