import type { ReceiptBody } from '@contract/usage.ts'
import { Alert, Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { type ErrorComponentProps, Navigate, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../../api/client.ts'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { useFormat } from '../../i18n/use-format.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { CostTable } from './cost-table.tsx'
import { receiptQuery } from './routes.tsx'

export function ReceiptSearchPage() {
  const { t } = useTranslation('receipts')
  return (
    <Page title={t('searchTitle')} description={t('searchDescription')}>
      <ReceiptSearch />
    </Page>
  )
}

/** What one request cost and why. */
export function ReceiptPage() {
  const { t } = useTranslation('receipts')
  const { organisationId, requestId } = useParams({ from: '/shell/organisations/$organisationId/receipts/$requestId' })
  const { data: receipt } = useSuspenseQuery(receiptQuery(requestId))
  if (receipt.organisationId !== organisationId)
    return (
      <Navigate
        to="/organisations/$organisationId/receipts/$requestId"
        params={{ organisationId: receipt.organisationId, requestId }}
        replace
      />
    )
  return (
    <Page
      title={t('title')}
      description={
        <Group component="span" gap={4} wrap="nowrap">
          <Text span inherit ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {requestId}
          </Text>
          <CopyButton value={requestId} label={t('copyId')} />
        </Group>
      }
    >
      <ReceiptSearch />
      <Section title={t('request')}>
        <RequestFacts receipt={receipt} />
        {receipt.schemaMismatch !== null && (
          <Alert color="orange">
            {receipt.schemaMismatch === 'json' ? t('noJson') : t('schemaMismatch', { keyword: receipt.schemaMismatch })}
          </Alert>
        )}
      </Section>
      <Section title={t('cost')} description={t(`basis.${receipt.costBasis}`)}>
        <CostTable receipt={receipt} />
        {receipt.estimated && <Alert color="orange">{t('estimated')}</Alert>}
      </Section>
      {receipt.rawUsage && (
        <Section title={t('raw')} description={t('rawDescription')}>
          <CodeBlock code={JSON.stringify(receipt.rawUsage, null, 2)} language="json" label={t('raw')} />
        </Section>
      )}
    </Page>
  )
}

/** An id without a receipt keeps the search field, so that the next id can be entered. */
export function ReceiptError(props: ErrorComponentProps) {
  const { t } = useTranslation('receipts')
  if (!(props.error instanceof ApiError) || props.error.status !== 404) return <ErrorState {...props} />
  return (
    <Page title={t('searchTitle')} description={t('searchDescription')}>
      <ReceiptSearch />
      <EmptyState title={t('none')} text={t('noneText')} />
    </Page>
  )
}

function ReceiptSearch() {
  const { t } = useTranslation('receipts')
  const { organisationId } = organisationRoute.useParams()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const requestId = text.trim()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (requestId === '') return
        void navigate({
          to: '/organisations/$organisationId/receipts/$requestId',
          params: { organisationId, requestId },
        })
      }}
    >
      <Group align="flex-end" gap="sm">
        <TextInput
          label={t('requestId')}
          placeholder="req_…"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          maxLength={100}
          w={{ base: '100%', xs: 420 }}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        />
        <Button type="submit" disabled={requestId === ''}>
          {t('find')}
        </Button>
      </Group>
    </form>
  )
}

function RequestFacts({ receipt }: { receipt: ReceiptBody }) {
  const { t } = useTranslation('receipts')
  const format = useFormat()
  const { startedAt, usage } = receipt
  const known = [
    'completed',
    'client_closed',
    'provider_failed',
    'budget_ended',
    'shutdown',
    'crashed',
    'unanswered',
  ] as const
  // The price list of a price that operators state (src/gateway/models/from-operator.ts).
  const statedAt = /^operator (.+Z)$/.exec(receipt.priceSource)?.[1]
  const ending = known.find((one) => one === receipt.ending)
  return (
    <Stack>
      <Facts
        items={[
          { label: t('startedAt'), value: <Time value={startedAt} /> },
          { label: t('duration'), value: format.duration(Date.parse(receipt.settledAt) - Date.parse(startedAt)) },
          {
            label: t('ending'),
            value: (
              <Badge variant="light" color={receipt.ending === 'completed' ? 'teal' : 'orange'}>
                {ending ? t(`endings.${ending}`) : receipt.ending}
              </Badge>
            ),
          },
          { label: t('finishReason'), value: receipt.finishReason ?? '—' },
          {
            label: t('model'),
            value: (
              <Text span inherit ff="monospace">
                {receipt.model}
              </Text>
            ),
          },
          { label: t('surface'), value: t(`surfaces.${receipt.surface}`) },
          { label: t('hosting'), value: receipt.hosting ?? '—' },
          { label: t('deployment'), value: receipt.deploymentId ?? '—' },
          { label: t('promptTokens'), value: format.number(usage.promptTokens) },
          { label: t('completionTokens'), value: format.number(usage.completionTokens) },
          { label: t('period'), value: format.day(receipt.period) },
          {
            label: t('priceSource'),
            value: statedAt ? t('priceStated', { time: format.dateTime(statedAt) }) : receipt.priceSource,
          },
        ]}
      />
    </Stack>
  )
}
