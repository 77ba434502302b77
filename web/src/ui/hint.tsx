import { Tooltip } from '@mantine/core'
import { cloneElement, type DOMAttributes, type ReactElement, useState } from 'react'

/**
 * A text with a tooltip. Tables have one in many cells, and a tooltip is slow to make: it is made, with its label, when the pointer is first on
 * the text.
 */
export function Hint(props: { label: () => string; children: ReactElement<DOMAttributes<Element>> }) {
  const { label, children } = props
  const [isWanted, setWanted] = useState(false)
  if (!isWanted) return cloneElement(children, { onPointerEnter: () => setWanted(true) })
  return (
    <Tooltip label={label()} defaultOpened>
      {children}
    </Tooltip>
  )
}
