import { Badge, Group, SimpleGrid, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { ConsoleSystemBody } from '@contract/console-system.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { Section } from '../../ui/section.tsx'
import { TableFrame } from '../../ui/table-frame.tsx'
import { Time } from '../../ui/time.tsx'
import { State } from './gateway-state.tsx'
import { Sparkline } from './sparkline.tsx'

/** The instance that answers: version, engines, and its last ten minutes. */
export function ProcessSection({ system }: { system: ConsoleSystemBody }) {
  const { t } = useTranslation('operator')
  const format = useFormat()
  const { process, search } = system
  const { samples, extractors } = process
  const last = samples.at(-1)!
  const peak = (value: (sample: typeof last) => number) => Math.max(...samples.map(value))
  const facts = [
    [t('system.version'), `${process.version} · Node.js ${process.node}`],
    [t('system.database'), `${t(`system.engine.${process.engine}`)} · ${process.databaseVersion}`],
    [t('system.search'), search.engine],
    [
      t('system.embedder'),
      <AnchorLink key="embedder" to="/operator/semantic-search" size="sm">
        {search.embedder}
      </AnchorLink>,
    ],
    [t('system.reranker'), <RerankerLine key="reranker" reranker={search.reranker} />],
    [
      t('system.extractors'),
      extractors === null
        ? t('system.noExtractors')
        : t('system.extractorLoad', {
            busy: extractors.busy,
            count: extractors.processes,
            waiting: extractors.waiting,
          }),
    ],
  ] as const
  return (
    <Section title={t('system.process')}>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xl">
        <Sparkline
          label={t('system.memory')}
          values={samples.map(({ residentBytes }) => residentBytes)}
          current={format.bytes(last.residentBytes)}
          peak={t('system.peak', { value: format.bytes(peak(({ residentBytes }) => residentBytes)) })}
        />
        <Sparkline
          label={t('system.processor')}
          values={samples.map(({ cpuPercent }) => cpuPercent)}
          current={format.percent(last.cpuPercent / 100)}
          peak={t('system.peak', { value: format.percent(peak(({ cpuPercent }) => cpuPercent) / 100) })}
        />
        <Sparkline
          label={t('system.delay')}
          values={samples.map(({ delayP99Ms }) => delayP99Ms)}
          current={format.duration(last.delayP99Ms)}
          peak={t('system.peak', { value: format.duration(peak(({ delayMaximumMs }) => delayMaximumMs)) })}
        />
      </SimpleGrid>
      <TableFrame spacing={6} label={t('system.process')} minimumWidth={320}>
        <Table.Tbody>
          {facts.map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th fw={400} w={200}>
                <Dimmed>{label}</Dimmed>
              </Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
          {search.embeddingVersions.map(({ embedder, dimensions, state }) => (
            <Table.Tr key={embedder}>
              <Table.Th fw={400}>
                <Dimmed>{t('system.vectors')}</Dimmed>
              </Table.Th>
              <Table.Td>{t('system.vectorsOf', { embedder, dimensions, state })}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </TableFrame>
    </Section>
  )
}

export function InstanceSection({ instances }: { instances: ConsoleSystemBody['instances'] }) {
  const { t } = useTranslation('operator')
  const format = useFormat()
  return (
    <Section title={t('system.instances')}>
      <TableFrame spacing={6} label={t('system.instances')} minimumWidth={480}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('system.instance')}</Table.Th>
            <Table.Th>{t('system.role')}</Table.Th>
            <Table.Th>{t('system.state')}</Table.Th>
            <Table.Th>{t('system.started')}</Table.Th>
            <Table.Th>{t('system.leases')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {instances.map(({ id, name, role, current, alive, startedAt, heartbeatAt, leases }) => (
            <Table.Tr key={id}>
              <Table.Td>
                <Text span ff="monospace" size="xs">
                  {name ?? id.slice(-12)}
                </Text>
                {current && (
                  <Text span size="xs" c="dimmed">
                    {` ${t('system.thisOne')}`}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>{role}</Table.Td>
              <Table.Td>
                <State
                  isGood={alive}
                  text={alive ? t('system.alive') : t('system.silent', { since: format.relative(heartbeatAt) })}
                />
              </Table.Td>
              <Table.Td>
                <Time value={startedAt} />
              </Table.Td>
              <Table.Td>{format.number(leases)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </TableFrame>
    </Section>
  )
}

const rerankerColours = { unused: 'gray', ready: 'teal', failing: 'red' } as const

/** Which reranker, whether its last comparison gave an order, and how long comparisons take. */
function RerankerLine({ reranker }: { reranker: ConsoleSystemBody['search']['reranker'] }) {
  const { t } = useTranslation('operator')
  const format = useFormat()
  if (!reranker) return t('system.noReranker')
  const { label, state, outcome, latencyP50Ms, latencyP95Ms } = reranker
  const isFailing = state === 'failing' && (outcome === 'timeout' || outcome === 'failed' || outcome === 'resting')
  return (
    <Group gap="xs">
      <span>{label}</span>
      <Badge variant="dot" color={rerankerColours[state]} tt="none" fw={500}>
        {isFailing ? t(`system.rerankerFailure.${outcome}`) : t(`system.rerankerState.${state}`)}
      </Badge>
      {latencyP50Ms !== null && latencyP95Ms !== null && (
        <Dimmed>
          {t('system.rerankerLatency', { p50: format.duration(latencyP50Ms), p95: format.duration(latencyP95Ms) })}
        </Dimmed>
      )}
    </Group>
  )
}
