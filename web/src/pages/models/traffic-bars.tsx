import type { DeploymentView } from '@contract/console-models.ts'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import classes from './traffic-bars.module.css'

type Traffic = NonNullable<DeploymentView['traffic']>

const barWidth = 3
const gap = 1
const height = 26

/** The requests of each slot as bars, oldest at the left: answered, rate limited, failed. */
export function TrafficBars({ traffic }: { traffic: Traffic | null }) {
  const { t } = useTranslation('models')
  const format = useFormat()
  const slots = traffic?.slots ?? []
  if (!traffic || slots.length === 0) return null
  const most = Math.max(1, ...slots.map(({ requests }) => requests))
  const label = t('deployments.bars', {
    requests: format.number(traffic.requests),
    errors: format.number(traffic.errors),
    rateLimited: format.number(traffic.rateLimited),
  })
  return (
    <svg
      role="img"
      aria-label={label}
      width={slots.length * (barWidth + gap)}
      height={height}
      className={classes['bars']}
    >
      <title>{label}</title>
      {slots.map((slot, index) => (
        <Bar key={index} slot={slot} x={index * (barWidth + gap)} scale={(height - 1) / most} />
      ))}
    </svg>
  )
}

function Bar({ slot, x, scale }: { slot: Traffic['slots'][number]; x: number; scale: number }) {
  const size = (count: number) => (count === 0 ? 0 : Math.max(2, count * scale))
  const errors = Math.min(height, size(slot.errors))
  const limited = Math.min(height - errors, size(slot.rateLimited))
  const answered = Math.min(
    height - errors - limited,
    size(Math.max(0, slot.requests - slot.errors - slot.rateLimited)),
  )
  return (
    <g>
      <rect x={x} y={height - 1} width={barWidth} height={1} className={classes['base']} />
      <rect x={x} y={height - answered} width={barWidth} height={answered} className={classes['answered']} />
      <rect x={x} y={height - answered - limited} width={barWidth} height={limited} className={classes['limited']} />
      <rect
        x={x}
        y={height - answered - limited - errors}
        width={barWidth}
        height={errors}
        className={classes['failed']}
      />
    </g>
  )
}
