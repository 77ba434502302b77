import { Group, Text } from '@mantine/core'
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { goodColor } from './colors.ts'

/** Whether calls of the gateway are allowed, in words and with a sign. */
export function GatewayState({ isOpen }: { isOpen: boolean }) {
  const { t } = useTranslation('operator')
  return <State isGood={isOpen} text={isOpen ? t('gateway.open') : t('gateway.closed')} />
}

export function State({ isGood, text }: { isGood: boolean; text: string }) {
  const Icon = isGood ? IconCircleCheck : IconCircleX
  const color = isGood ? goodColor : 'var(--mantine-color-dimmed)'
  return (
    <Group gap={6} wrap="nowrap">
      <Icon size={16} color={color} aria-hidden />
      <Text span size="sm">
        {text}
      </Text>
    </Group>
  )
}
