import { Text, Tooltip } from '@mantine/core'
import { useFormat } from '../../i18n/use-format.ts'

/** An amount with sensible digits, and every digit in the tooltip. */
export function Money({ usd }: { usd: string }) {
  const format = useFormat()
  return (
    <Tooltip label={format.money(usd, { exact: true })}>
      <Text span inherit>
        {format.money(usd)}
      </Text>
    </Tooltip>
  )
}
