import type { CliProcess } from './cli-process.ts'

type Cell = string | number | boolean | null | undefined

/** Columns of a table: the field of a row under each header, or a function that derives the cell from the row. */
type Columns<Row> = Record<
  string,
  { [Name in keyof Row]: Row[Name] extends Cell ? Name : never }[keyof Row] | ((row: Row) => Cell)
>

/** Results go to standard output, everything else to standard error, so that output can be piped. */
export type Output = ReturnType<typeof createOutput>

export function createOutput(cliProcess: CliProcess, json: boolean) {
  const line = (text = '') => cliProcess.writeOut(`${text}\n`)

  /** Aligned columns under a header; prints `empty` if there are no rows. */
  function table(header: string[], rows: Cell[][], empty: string): void {
    if (rows.length === 0) return line(empty)
    const cells = [header, ...rows.map((row) => row.map(toText))]
    const widths = header.map((_name, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ''))))
    const numeric = header.map((_name, column) => rows.every((row) => typeof row[column] === 'number'))
    for (const row of cells) {
      const padded = row.map((text, column) => pad(text, widths[column]!, numeric[column]!))
      line(padded.join('  ').trimEnd())
    }
  }

  return {
    json,
    /** Prints `value` as JSON with --json, otherwise calls `show`. */
    result(value: unknown, show: () => void): void {
      if (json) line(JSON.stringify(value, null, 2))
      else show()
    },
    line,
    table,
    /** One table line per row; prints `empty` if there are no rows. */
    list<Row>(rows: readonly Row[], columns: Columns<Row>, empty: string): void {
      const cells = Object.values(columns)
      const toCell = (row: Row, cell: (typeof cells)[number]) =>
        typeof cell === 'function' ? cell(row) : (row[cell] as Cell)
      table(
        Object.keys(columns),
        rows.map((row) => cells.map((cell) => toCell(row, cell))),
        empty,
      )
    },
    /** One line per name and value, without undefined values. */
    fields(fields: [name: string, value: Cell][]): void {
      const present = fields.filter(([, value]) => value !== undefined)
      const width = Math.max(...present.map(([name]) => name.length))
      for (const [name, value] of present) line(`${name.padEnd(width)}  ${toText(value)}`)
    },
    /** A remark on standard error; nothing with --json. */
    note(text: string): void {
      if (!json) cliProcess.writeError(`${text}\n`)
    },
    /** A line of progress, redrawn in place on a terminal, otherwise not printed. An empty text clears it. */
    progress(text: string): void {
      if (!json && cliProcess.isTerminal) cliProcess.writeError(`\r\u001b[2K${text}`)
    },
    /** Text without changes, for streams. */
    write: cliProcess.writeOut,
  }
}

/** Names come from clients: control characters must not reach the terminal. */
function toText(cell: Cell): string {
  if (cell === null || cell === undefined) return '-'
  if (cell === true) return 'yes'
  if (cell === false) return 'no'
  return stripControl(String(cell)).replaceAll(/[\r\n\t]+/g, ' ')
}

/** Text without control characters other than line breaks and tabs: no escape sequence of a document reaches the terminal. */
export function stripControl(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '')
}

function widthOf(text: string): number {
  return [...text].length
}

function pad(text: string, width: number, right: boolean): string {
  const spaces = ' '.repeat(width - widthOf(text))
  return right ? spaces + text : text + spaces
}
