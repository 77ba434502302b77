import { Anchor, Box, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { AdminLogEntryBody } from '@contract/admin-log.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Time } from '../../ui/time.tsx'
import { isAdminAction } from './actions.ts'
import classes from './audit.module.css'
import { AuditDiff } from './audit-diff.tsx'
import type { AuditSearch } from './routes.tsx'

interface AuditEntriesProps {
  entries: AdminLogEntryBody[]
  /** Narrows the list to the actor or the subject of an entry; absent outside of the audit. */
  onFilter?: (next: AuditSearch) => void
  hideOrganisation?: boolean
}

/** Entries of the admin log. Each opens to what was changed. */
export function AuditEntries(props: AuditEntriesProps) {
  const { t } = useTranslation('operator')
  if (props.entries.length === 0) return <Dimmed>{t('audit.empty')}</Dimmed>
  return (
    <Stack gap={0} component="ul" className={classes.list!} aria-label={t('audit.entries')}>
      {props.entries.map((entry) => (
        <Entry key={entry.id} {...props} entry={entry} />
      ))}
    </Stack>
  )
}

function Entry({ entry, onFilter, hideOrganisation }: AuditEntriesProps & { entry: AdminLogEntryBody }) {
  const { t } = useTranslation('operator')
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const Icon = isOpen ? IconChevronDown : IconChevronRight
  const { action, actor, organisationName } = entry
  const subject = entry.subjectName ?? entry.subjectId
  return (
    <li className={classes.entry}>
      <UnstyledButton
        className={classes.summary!}
        onClick={() => setOpen(!isOpen)}
        aria-expanded={isOpen}
        aria-controls={id}
      >
        <Icon size={16} aria-hidden className={classes.sign} />
        <Text span size="sm" fw={500} className={classes.action!}>
          {isAdminAction(action) ? t(`actions.${action}`) : action}
        </Text>
        <Text span size="sm" truncate className={classes.subject!}>
          {subject}
          {!hideOrganisation && organisationName !== null && organisationName !== subject && (
            <Text span size="sm" c="dimmed">{` · ${organisationName}`}</Text>
          )}
        </Text>
        <Text span size="sm" c="dimmed" truncate className={classes.actor!}>
          {actorName(actor, t)}
        </Text>
        <Text span size="sm" c="dimmed" className={classes.time!}>
          <Time value={entry.at} />
        </Text>
      </UnstyledButton>
      {isOpen && (
        <Box id={id} className={classes.details!}>
          <AuditDiff before={entry.before} after={entry.after} />
          <Details entry={entry} onFilter={onFilter} />
        </Box>
      )}
    </li>
  )
}

function Details({ entry, onFilter }: { entry: AdminLogEntryBody; onFilter: AuditEntriesProps['onFilter'] }) {
  const { t } = useTranslation('operator')
  const facts = [
    [t('audit.subjectIdLabel'), entry.subjectId],
    [t('audit.request'), entry.requestId],
    [t('audit.session'), entry.sessionId],
  ] as const
  return (
    <Stack gap={4} mt="sm">
      {facts.map(([label, value]) =>
        value === null ? null : (
          <Group key={label} gap={6}>
            <Dimmed size="xs">{label}</Dimmed>
            <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
              {value}
            </Text>
          </Group>
        ),
      )}
      {onFilter && (
        <Group gap="md">
          <Anchor component="button" size="xs" onClick={() => onFilter({ actor: entry.actor })}>
            {t('audit.sameActor')}
          </Anchor>
          <Anchor component="button" size="xs" onClick={() => onFilter({ subjectId: entry.subjectId })}>
            {t('audit.sameSubject')}
          </Anchor>
        </Group>
      )}
    </Stack>
  )
}

function actorName(actor: string, t: ReturnType<typeof useTranslation<'operator'>>['t']): string {
  if (actor === 'operator') return t('audit.operatorToken')
  return actor === 'service' ? t('audit.service') : actor
}
