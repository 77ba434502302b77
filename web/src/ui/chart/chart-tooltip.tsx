import { Group, Paper, Stack, Text } from '@mantine/core'

export interface TooltipLine {
  name: string
  value: string
  colour?: string | undefined
}

/** What hovering a day shows. */
export function ChartTooltip({ title, lines }: { title: string; lines: TooltipLine[] }) {
  return (
    <Paper withBorder shadow="md" px="sm" py="xs">
      <Text size="sm" fw={600} mb={4}>
        {title}
      </Text>
      <Stack gap={2}>
        {lines.map(({ name, value, colour }, place) => (
          <Group key={place} gap="xs" wrap="nowrap" justify="space-between">
            <Group gap={6} wrap="nowrap" miw={0}>
              {colour && <Swatch colour={colour} />}
              <Text size="sm" truncate maw={220}>
                {name}
              </Text>
            </Group>
            <Text size="sm" flex="none">
              {value}
            </Text>
          </Group>
        ))}
      </Stack>
    </Paper>
  )
}

export function Swatch({ colour }: { colour: string }) {
  return <span aria-hidden style={{ width: 10, height: 10, borderRadius: 2, background: colour, flex: 'none' }} />
}
