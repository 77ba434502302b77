import { useMemo } from 'react'
import styles from '../viewer.module.css'
import { type CodePointRange, countCodePoints } from './mark-range.ts'
import { MarkedText } from './marked-text.tsx'
import type { TextWindow } from './text-windows.ts'

/** What the extraction puts between the cells of a row. */
const separator = ' | '
const columnWidth = 160

interface PlacedCell {
  text: string
  start: number
}

/** The rows of a csv file. Titles above a table are rows of one cell. */
export function TableRows(props: { window: TextWindow; range: CodePointRange | undefined; isFirst: boolean }) {
  const { window, range, isFirst } = props
  const rows = useMemo(() => readRows(window), [window])
  const columns = rows.reduce((most, cells) => Math.max(most, cells.length), 1)
  return (
    <table className={styles['rows']} style={{ width: columns * columnWidth }}>
      <tbody>
        {rows.map((cells, index) => (
          <tr key={index} data-head={isFirst && index === 0 ? '' : undefined}>
            {cells.map((cell, column) => (
              <td key={column} colSpan={column === cells.length - 1 ? columns - column : 1}>
                <MarkedText text={cell.text} start={cell.start} range={isIn(cell, range) ? range : undefined} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function isIn({ text, start }: PlacedCell, range: CodePointRange | undefined): boolean {
  return range !== undefined && start < range.to && start + text.length >= range.from
}

function readRows({ from, text }: TextWindow): PlacedCell[][] {
  let position = from
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      let start = position
      position += countCodePoints(line) + 1
      return line.split(separator).map((cell) => {
        const placed = { text: cell, start }
        start += countCodePoints(cell) + separator.length
        return placed
      })
    })
}
