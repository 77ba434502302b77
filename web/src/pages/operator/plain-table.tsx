import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

/** A short table without sorting. It scrolls inside its frame where it is wider than the page. */
export function PlainTable(props: { label: string; minimumWidth: number; children: ReactNode }) {
  const { label, minimumWidth, children } = props
  return (
    <Table.ScrollContainer
      minWidth={minimumWidth}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': label, role: 'region' } }}
    >
      <Table aria-label={label} verticalSpacing={6}>
        {children}
      </Table>
    </Table.ScrollContainer>
  )
}
