import fs from 'node:fs'

/** One measured value of one subject. The subjects of a round run directly one after the other, so a busy moment hits all of them. */
export interface Figure {
  /** Such as `plain, 16 at once`. */
  case: string
  /** From 0. */
  round: number
  /** Such as `Portico` or `bare Node proxy`. */
  subject: string
  /** The subject is one that readers know: the others of the case are compared with it. */
  reference?: boolean
  /** With its unit, such as `requests/s`. */
  quantity: string
  value: number
  better: 'higher' | 'lower'
}

export type WriteFigure = (figure: Figure) => void

/** Appends figures to a file, one JSON object a line; without a file they are dropped. */
export function figureWriter(file: string | undefined): WriteFigure {
  return (figure) => {
    if (file !== undefined) fs.appendFileSync(file, `${JSON.stringify(figure)}\n`)
  }
}

export function readFigures(file: string): Figure[] {
  if (!fs.existsSync(file)) return []
  const lines = fs.readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Figure)
}

/** The same subjects in another order in each round: the first of a round has no advantage over all rounds. */
export function rotated<Item>(items: readonly Item[], round: number): Item[] {
  const from = round % items.length
  return [...items.slice(from), ...items.slice(0, from)]
}
