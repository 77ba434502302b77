import { Group } from '@mantine/core'
import type { ConsoleHealthBody } from '@contract/console-health.ts'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import styles from './day-strip.module.css'

type Day = ConsoleHealthBody['providers'][number]['days'][number]

/** Shares of failed calls from which a day is marked. */
const someShare = 0.01
const badShare = 0.05

/** One bar for each day, by its share of failed calls. Screen readers get the days with errors. */
export function DayStrip({ days }: { days: readonly Day[] }) {
  const { t } = useTranslation('overview')
  const format = useFormat()
  const textOf = ({ day, calls, errors }: Day) =>
    calls === 0
      ? t('health.dayWithout', { day: format.day(day) })
      : t('health.dayWith', {
          day: format.day(day),
          share: format.percent(errors / calls),
          errors: format.number(errors),
          calls: format.number(calls),
        })
  const bad = days.filter(({ errors }) => errors > 0)
  return (
    <div>
      <div
        className={styles['strip']}
        role="img"
        aria-label={bad.length === 0 ? t('health.noBadDay') : bad.map(textOf).join('; ')}
      >
        {days.map((day) => (
          <span key={day.day} className={styles['day']} data-state={stateOf(day)} title={textOf(day)} />
        ))}
      </div>
      <Group justify="space-between" maw={720}>
        <Dimmed size="xs">{format.day(days[0]!.day)}</Dimmed>
        <Dimmed size="xs">{t('health.today')}</Dimmed>
      </Group>
    </div>
  )
}

function stateOf({ calls, errors }: Day): string {
  if (calls === 0) return 'none'
  const share = errors / calls
  return share >= badShare ? 'bad' : share >= someShare ? 'some' : 'good'
}
