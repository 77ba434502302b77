import { Text, Tooltip } from '@mantine/core'
import { useFormat } from '../i18n/use-format.ts'

/** A moment relative to now, with the exact time in a tooltip. */
export function Time({ value }: { value: string | number }) {
  const format = useFormat()
  return (
    <Tooltip label={format.dateTime(value)}>
      <Text component="time" inherit dateTime={new Date(value).toISOString()}>
        {format.relative(value)}
      </Text>
    </Tooltip>
  )
}
