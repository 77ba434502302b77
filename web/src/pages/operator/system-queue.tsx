import { SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { ConsoleSystemBody } from '@contract/console-system.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { TableFrame } from '../../ui/table-frame.tsx'
import { AnchorLink } from '../../ui/link.tsx'

type Queue = ConsoleSystemBody['queue']

/** Background work of all instances. */
export function QueueSection({ queue }: { queue: Queue }) {
  const { t } = useTranslation('operator')
  return (
    <Section title={t('queue.title')} description={t('queue.description')}>
      {queue.kinds.length === 0 ? (
        <Dimmed>{t('queue.empty')}</Dimmed>
      ) : (
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing={40}>
          <Kinds kinds={queue.kinds} />
          {queue.organisations.length > 0 && <Organisations organisations={queue.organisations} />}
        </SimpleGrid>
      )}
      <JobList
        title={t('queue.failing')}
        when={t('queue.nextAttempt')}
        jobs={queue.failing.map((job) => ({ ...job, attempts: job.attempt, at: job.nextAttemptAt }))}
      />
      <JobList title={t('queue.givenUp')} when={t('queue.when')} jobs={queue.givenUp} />
    </Section>
  )
}

function Kinds({ kinds }: { kinds: Queue['kinds'] }) {
  const { t } = useTranslation('operator')
  const format = useFormat()
  const columns = ['ready', 'delayed', 'running', 'retrying'] as const
  return (
    <TableFrame spacing={6} label={t('queue.title')} minimumWidth={480}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('queue.kind')}</Table.Th>
          {columns.map((name) => (
            <Table.Th key={name}>{t(`queue.${name}`)}</Table.Th>
          ))}
          <Table.Th>{t('queue.oldest')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {kinds.map((kind) => (
          <Table.Tr key={kind.kind}>
            <Table.Td>
              <Kind name={kind.kind} />
            </Table.Td>
            {columns.map((name) => (
              <Table.Td key={name}>{format.number(kind[name])}</Table.Td>
            ))}
            <Table.Td>{kind.oldestWaitingAt === null ? '–' : <Time value={kind.oldestWaitingAt} />}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </TableFrame>
  )
}

function Organisations({ organisations }: { organisations: Queue['organisations'] }) {
  const { t } = useTranslation('operator')
  const format = useFormat()
  return (
    <TableFrame spacing={6} label={t('queue.byOrganisation')} minimumWidth={320}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('queue.byOrganisation')}</Table.Th>
          <Table.Th>{t('system.waiting')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {organisations.map((row) => (
          <Table.Tr key={row.organisationId}>
            <Table.Td>
              <OrganisationName {...row} />
            </Table.Td>
            <Table.Td>{format.number(row.waiting)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </TableFrame>
  )
}

interface Job {
  kind: string
  organisationId: string | null
  organisationName: string | null
  attempts: number
  reason: string | null
  at: string
}

function JobList({ title, when, jobs }: { title: string; when: string; jobs: readonly Job[] }) {
  const { t } = useTranslation('operator')
  const format = useFormat()
  if (jobs.length === 0) return null
  return (
    <Stack gap={4} mt="sm">
      <Text fw={600} size="sm">
        {title}
      </Text>
      <TableFrame spacing={6} label={title} minimumWidth={720}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('queue.kind')}</Table.Th>
            <Table.Th>{t('subjects.organisation')}</Table.Th>
            <Table.Th>{t('queue.attempts')}</Table.Th>
            <Table.Th>{t('queue.reason')}</Table.Th>
            <Table.Th w={120}>{when}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {jobs.map((job, index) => (
            <Table.Tr key={index}>
              <Table.Td>
                <Kind name={job.kind} />
              </Table.Td>
              <Table.Td>
                <OrganisationName {...job} />
              </Table.Td>
              <Table.Td>{format.number(job.attempts)}</Table.Td>
              <Table.Td>{job.reason ?? '–'}</Table.Td>
              <Table.Td>
                <Time value={job.at} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </TableFrame>
    </Stack>
  )
}

function Kind({ name }: { name: string }) {
  return (
    <Text span ff="monospace" size="xs">
      {name}
    </Text>
  )
}

export function OrganisationName(props: { organisationId: string | null; organisationName: string | null }) {
  const { organisationId, organisationName } = props
  if (organisationId === null) return <>–</>
  return (
    <AnchorLink to="/operator/organisations/$organisationId" params={{ organisationId }} size="sm">
      {organisationName ?? organisationId}
    </AnchorLink>
  )
}
