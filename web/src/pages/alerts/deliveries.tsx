import { Button, Text } from '@mantine/core'
import { useSuspenseInfiniteQuery } from '@tanstack/react-query'
import type { AlertDeliveryBody } from '@contract/alerts.ts'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { postJson } from '../../api/client.ts'
import { type DataColumn, DataTable, unsortedColumn } from '../../ui/data-table.tsx'
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
      {
        accessorKey: 'createdAt',
        header: t('column.time'),
        cell: ({ row }) => <Time value={row.original.createdAt} />,
      },
      { accessorKey: 'title', header: t('column.message') },
      { id: 'channel', header: t('column.channel'), accessorFn: ({ channel }) => t(`channel.${channel}`) },
      unsortedColumn('state', t('column.state'), (row) => <State delivery={row} />),
      { accessorKey: 'attempts', header: t('column.attempts') },
      unsortedColumn('resend', t('column.action'), (row) => <Resend delivery={row} />),
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
