import { Button, Text } from '@mantine/core'
import { useSuspenseInfiniteQuery } from '@tanstack/react-query'
import type { AlertDeliveryBody } from '@contract/alerts.ts'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { postJson } from '../../api/client.ts'
import { column, type DataColumn, DataTable, textColumn } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Time } from '../../ui/time.tsx'
import { useChange } from '../../ui/use-change.ts'
import { alertsKey, deliveriesQuery } from './alert-queries.ts'

/** The messages by webhook and e-mail, with their outcome. */
export function Deliveries() {
  const { t } = useTranslation('alerts')
  const { data, hasNextPage, fetchNextPage, isFetchingNextPage } = useSuspenseInfiniteQuery(deliveriesQuery)
  const rows = useMemo(() => data.pages.flatMap((page) => page.items), [data])
  const columns = useColumns()
  return (
    <>
      <DataTable
        label={t('view.messages')}
        columns={columns}
        rows={rows}
        rowId={({ id }) => id}
        minimumWidth={860}
        empty={<EmptyState title={t('empty.messages')} text={t('empty.messagesText')} />}
      />
      {hasNextPage && (
        <Button variant="default" onClick={() => void fetchNextPage()} loading={isFetchingNextPage} w="fit-content">
          {t('more')}
        </Button>
      )}
    </>
  )
}

function useColumns(): DataColumn<AlertDeliveryBody>[] {
  const { t } = useTranslation('alerts')
  return useMemo(
    () => [
      column('createdAt', t('column.time'), ({ createdAt }) => <Time value={createdAt} />, 'createdAt'),
      textColumn('title', t('column.message'), ({ title }) => title),
      textColumn('channel', t('column.channel'), ({ channel }) => t(`channel.${channel}`)),
      column('state', t('column.state'), (row) => <State delivery={row} />),
      textColumn('attempts', t('column.attempts'), ({ attempts }) => attempts),
      column('resend', t('column.action'), (row) => <Resend delivery={row} />),
    ],
    [t],
  )
}

function State({ delivery: { state, failure, nextAttemptAt } }: { delivery: AlertDeliveryBody }) {
  const { t } = useTranslation('alerts')
  return (
    <>
      <Text size="sm" c={state === 'failed' ? 'var(--mantine-color-error)' : undefined}>
        {t(`state.${state}`)}
      </Text>
      {failure !== null && (
        <Text size="xs" c="dimmed" component="div" maw={280} style={{ overflowWrap: 'anywhere' }}>
          {failure}
          {nextAttemptAt !== null && (
            <>
              {' '}
              · {t('nextAttempt')} <Time value={nextAttemptAt} />
            </>
          )}
        </Text>
      )}
    </>
  )
}

function Resend({ delivery: { id, title, state } }: { delivery: AlertDeliveryBody }) {
  const { t } = useTranslation('alerts')
  const resend = useChange(() => postJson(`/api/alerts/deliveries/${id}/resend`), {
    stale: alertsKey,
    done: () => t('resent'),
  })
  if (state === 'waiting') return null
  return (
    <Button
      size="compact-xs"
      variant="default"
      onClick={() => resend.mutate()}
      loading={resend.isPending}
      aria-label={t('resendOf', { title })}
    >
      {t('resend')}
    </Button>
  )
}
