import { Badge, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'

/** A word about an entry, with an explanation in a tooltip. A colour is shown as a dot, so that the text keeps its contrast. */
export function Tag(props: { children: ReactNode; color?: string | undefined; text?: string }) {
  const { children, color, text } = props
  const badge = (
    <Badge
      variant={color === undefined ? 'default' : 'dot'}
      color={color}
      tt="none"
      fw={500}
      style={{ flexShrink: 0, maxWidth: 'none', overflow: 'visible' }}
      styles={{ label: { overflow: 'visible' } }}
    >
      {children}
    </Badge>
  )
  return text === undefined ? (
    badge
  ) : (
    <Tooltip label={text} multiline maw={320}>
      {badge}
    </Tooltip>
  )
}
