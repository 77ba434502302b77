import { SimpleGrid, Stack } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Page } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { ConsistencyCheck } from './consistency-check.tsx'
import { systemQuery } from './routes.tsx'
import { DocumentSection, StorageSection } from './system-documents.tsx'
import { EventSection } from './system-events.tsx'
import { InstanceSection, ProcessSection } from './system-process.tsx'
import { QueueSection } from './system-queue.tsx'
import { SystemSummary } from './system-summary.tsx'

/** What an operator looks at first when something is wrong. It follows the server while it is visible. */
export function SystemPage() {
  const { t } = useTranslation('operator')
  const { data, isError } = useSuspenseQuery(systemQuery)
  return (
    <Page
      title={t('system.title')}
      description={
        <>
          {t(isError ? 'system.lost' : 'system.live')} <Time value={data.at} />
        </>
      }
      actions={<ConsistencyCheck />}
    >
      <Stack gap={40}>
        <SystemSummary system={data} />
        <ProcessSection system={data} />
        <QueueSection queue={data.queue} />
        <DocumentSection system={data} />
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing={40}>
          <InstanceSection instances={data.instances} />
          <StorageSection system={data} />
        </SimpleGrid>
        <EventSection events={data.events} />
      </Stack>
    </Page>
  )
}
