import { Badge, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { ConsoleSystemBody } from '@contract/console-system.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import classes from './audit.module.css'

const shownAtFirst = 20

/** The last warnings and errors of the instance that answers. */
export function EventSection({ events }: { events: ConsoleSystemBody['events'] }) {
  const { t } = useTranslation('operator')
  const [level, setLevel] = useState('all')
  const [isComplete, setComplete] = useState(false)
  const matching = events.filter((event) => level === 'all' || event.level === level)
  const shown = isComplete ? matching : matching.slice(0, shownAtFirst)
  return (
    <Section
      title={t('events.title')}
      description={t('events.description')}
      actions={
        <SegmentedControl
          size="xs"
          value={level}
          onChange={setLevel}
          aria-label={t('events.level')}
          data={(['all', 'error', 'warn'] as const).map((value) => ({ value, label: t(`events.${value}`) }))}
        />
      }
    >
      {shown.length === 0 ? (
        <Dimmed>{t('events.none')}</Dimmed>
      ) : (
        <Stack gap={0} component="ul" className={classes.list!} aria-label={t('events.title')}>
          {shown.map((event) => (
            <li key={event.sequence} className={classes.event}>
              <Dimmed size="xs">
                <Time value={event.at} />
              </Dimmed>
              <Badge variant="light" color={event.level === 'error' ? 'red' : 'orange'} size="sm" radius="sm">
                {t(`events.${event.level}`)}
              </Badge>
              <div className={classes.eventText}>
                <Text size="sm">{event.message}</Text>
                <Dimmed size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                  {Object.entries(event.fields)
                    .map(([name, value]) => `${name}=${value}`)
                    .join(' ')}
                </Dimmed>
              </div>
            </li>
          ))}
        </Stack>
      )}
      {matching.length > shown.length && (
        <Group>
          <Button variant="subtle" size="xs" onClick={() => setComplete(true)}>
            {t('events.more', { count: matching.length })}
          </Button>
        </Group>
      )}
    </Section>
  )
}
