import type { DeploymentView } from '@contract/console-models.ts'
import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'

/** The wait of a deployment that is not called now, else its problem. */
export function CircuitText({ deployment }: { deployment: DeploymentView }) {
  const { t } = useTranslation('models')
  const format = useFormat()
  const { health, problem, state } = deployment
  const text =
    state === 'open' && health.openUntil
      ? t('health.nextTry', { time: format.relative(health.openUntil) })
      : state === 'half_open'
        ? t('health.probing')
        : state === 'rate_limited' && health.rateLimitedUntil
          ? t('health.limitedUntil', { time: format.relative(health.rateLimitedUntil) })
          : state === 'problem' || state === 'avoided'
            ? problem
            : null
  if (!text) return null
  return (
    <Dimmed size="xs" maw={260}>
      {text}
    </Dimmed>
  )
}

export function ErrorShare({ traffic }: { traffic: DeploymentView['traffic'] }) {
  const { t } = useTranslation('models')
  const format = useFormat()
  if (!traffic || traffic.requests + traffic.errors === 0) return <Text size="sm">–</Text>
  const share = Math.min(1, traffic.errors / Math.max(1, traffic.requests))
  return (
    <>
      <Text size="sm" c={share > 0.05 ? 'var(--mantine-color-error)' : undefined}>
        {format.percent(share)}
      </Text>
      {traffic.rateLimited > 0 && <Dimmed size="xs">{t('health.limited', { count: traffic.rateLimited })}</Dimmed>}
    </>
  )
}

/** Median and 95th percentile. */
export function Milliseconds({ value }: { value: { p50: number; p95: number } | null }) {
  const format = useFormat()
  if (!value) return <Text size="sm">–</Text>
  return (
    <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
      {format.duration(value.p50)}
      <Text span size="xs" c="dimmed">
        {` / ${format.duration(value.p95)}`}
      </Text>
    </Text>
  )
}
