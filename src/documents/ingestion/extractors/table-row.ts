import type { ExtractedBlock } from '../extraction.ts'

const separator = ' | '

/** A table row as text: cells in order, empty ones kept, so that each cell stays under its header. */
export function tableRowText(cells: readonly string[]): string {
  return cells.join(separator)
}

/** The text of a row, and its cells where the text alone does not show them. */
export function tableRow(cells: string[]): Pick<ExtractedBlock, 'text' | 'cells'> {
  const text = tableRowText(cells)
  return cells.some((cell) => cell.includes('|')) ? { text, cells } : { text }
}

/** The cells of a row that `tableRow` made. */
export function cellsOf({ text, cells }: Pick<ExtractedBlock, 'text' | 'cells'>): readonly string[] {
  return cells ?? text.split(separator)
}
