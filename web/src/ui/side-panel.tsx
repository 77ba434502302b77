import { Drawer, type DrawerProps } from '@mantine/core'
import { useCloseGuard } from './close-guard.tsx'

/** A panel at the right edge with fields: it asks before typed text is lost. */
export function SidePanel({ onClose, children, ...others }: DrawerProps) {
  const { props, wrap } = useCloseGuard(onClose)
  return (
    <Drawer position="right" {...others} {...props}>
      {wrap(children)}
    </Drawer>
  )
}
