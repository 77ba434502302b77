import { Badge } from '@mantine/core'

export function OutcomeBadge({ color, text }: { color: 'red' | 'yellow' | 'gray'; text: string }) {
  return (
    <Badge color={color} variant="light" autoContrast tt="none" c="var(--mantine-color-text)">
      {text}
    </Badge>
  )
}
