import { Table } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './table-frame.module.css'

export interface TableFrameProps {
  /** Names the table for screen readers. */
  label: string
  /** The width below which the table scrolls sideways inside its frame, in pixels. */
  minimumWidth: number
  /**
   * Rows become cards in a window of at most 640 pixels. Each cell then needs its column's name in `data-label`; the first cell is the
   * title and has none, as cells of actions. `data-wide` gives a cell the whole width of the card.
   */
  hasCards?: boolean
  /** Rows of a former filter, while those of the new one load. */
  isBusy?: boolean
  spacing?: 'xs' | 6
  children: ReactNode
}

/** A table that stays inside the page. */
export function TableFrame(props: TableFrameProps) {
  const { label, minimumWidth, hasCards = false, isBusy = false, spacing = 'xs', children } = props
  return (
    <Table.ScrollContainer
      minWidth={minimumWidth}
      type="native"
      tabIndex={0}
      role="region"
      aria-label={label}
      {...(hasCards && { classNames: { scrollContainerInner: styles['inner']! } })}
    >
      <Table
        aria-label={label}
        aria-busy={isBusy}
        verticalSpacing={spacing}
        highlightOnHover={spacing === 'xs'}
        {...(hasCards && { className: styles['cards']! })}
      >
        {children}
      </Table>
    </Table.ScrollContainer>
  )
}
