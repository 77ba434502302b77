import { SimpleGrid, Stack, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
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
      {queue.failing.length > 0 && <Failing jobs={queue.failing} />}
      {queue.givenUp.length > 0 && <GivenUp jobs={queue.givenUp} />}
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

function Failing({ jobs }: { jobs: Queue['failing'] }) {
  const { t } = useTranslation('operator')
  return (
    <JobList title={t('queue.failing')} when={t('queue.nextAttempt')}>
      {jobs.map((job, index) => (
        <JobRow
          key={index}
          kind={job.kind}
          organisation={<OrganisationName {...job} />}
          attempts={job.attempt}
          reason={job.reason}
          at={job.nextAttemptAt}
        />
      ))}
    </JobList>
  )
}

function GivenUp({ jobs }: { jobs: Queue['givenUp'] }) {
  const { t } = useTranslation('operator')
  return (
    <JobList title={t('queue.givenUp')} when={t('queue.when')}>
      {jobs.map((job, index) => (
        <JobRow
          key={index}
          kind={job.kind}
          organisation={<OrganisationName {...job} />}
          attempts={job.attempts}
          reason={job.reason}
          at={job.at}
        />
      ))}
    </JobList>
  )
}

function JobList({ title, when, children }: { title: string; when: string; children: ReactNode }) {
  const { t } = useTranslation('operator')
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
        <Table.Tbody>{children}</Table.Tbody>
      </TableFrame>
    </Stack>
  )
}

function JobRow(props: { kind: string; organisation: ReactNode; attempts: number; reason: string | null; at: string }) {
  const format = useFormat()
  return (
    <Table.Tr>
      <Table.Td>
        <Kind name={props.kind} />
      </Table.Td>
      <Table.Td>{props.organisation}</Table.Td>
      <Table.Td>{format.number(props.attempts)}</Table.Td>
      <Table.Td>{props.reason ?? '–'}</Table.Td>
      <Table.Td>
        <Time value={props.at} />
      </Table.Td>
    </Table.Tr>
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
