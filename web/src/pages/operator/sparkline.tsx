import { Group, Stack, Text } from '@mantine/core'
import { Dimmed } from '../../ui/dimmed.tsx'

const width = 240
const height = 40

/** A small line of the last minutes with its current value. The line starts at zero. */
export function Sparkline(props: { label: string; values: number[]; current: string; peak: string }) {
  const { label, values, current, peak } = props
  const maximum = Math.max(...values, Number.MIN_VALUE)
  const step = width / Math.max(1, values.length - 1)
  const points = values.map((value, index) => `${index * step},${height - 2 - (value / maximum) * (height - 4)}`)
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs">
        <Dimmed>{label}</Dimmed>
        <Text size="sm" fw={600}>
          {current}
        </Text>
      </Group>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width="100%"
        height={height}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <polyline
          points={
            points.length === 1
              ? `0,${points[0]!.split(',')[1]} ${width},${points[0]!.split(',')[1]}`
              : points.join(' ')
          }
          fill="none"
          stroke="var(--mantine-primary-color-filled)"
          strokeWidth={1.5}
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <Dimmed size="xs">{peak}</Dimmed>
    </Stack>
  )
}
