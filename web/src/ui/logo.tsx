import { Group, Text } from '@mantine/core'
import { titleFace } from './title-face.ts'

export function Logo() {
  return (
    <Group gap={8} wrap="nowrap">
      <svg viewBox="0 0 32 32" width={22} height={22} aria-hidden="true">
        <path
          fill="var(--mantine-primary-color-filled)"
          d="M3 11 16 3l13 8v3H3zM5 16h4v9H5zm9 0h4v9h-4zm9 0h4v9h-4zM3 27h26v2H3z"
        />
      </svg>
      <Text fw={600} size="xl" lh={1} ff={titleFace}>
        Portico
      </Text>
    </Group>
  )
}
