/** A table row as text: cells in order, empty ones kept, so that each cell still stands under its header. */
export function tableRowText(cells: string[]): string {
  return cells.join(' | ')
}
