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
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { CostTable } from './cost-table.tsx'
import { Facts } from './facts.tsx'
import { receiptQuery } from './routes.tsx'

export function ReceiptSearchPage() {
  const { t } = useTranslation('devtools')
  return (
    <Page title={t('receipt.searchTitle')} description={t('receipt.searchDescription')}>
      <ReceiptSearch />
    </Page>
  )
}

/** What one request cost and why. */
export function ReceiptPage() {
  const { t } = useTranslation('devtools')
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
      title={t('receipt.title')}
      description={
        <Group component="span" gap={4} wrap="nowrap">
          <Text span inherit ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {requestId}
          </Text>
          <CopyButton value={requestId} label={t('receipt.copyId')} />
        </Group>
      }
    >
      <ReceiptSearch />
      <Section title={t('receipt.request')}>
        <RequestFacts receipt={receipt} />
        {receipt.schemaMismatch !== null && (
          <Alert color="orange">
            {receipt.schemaMismatch === 'json'
              ? t('receipt.noJson')
              : t('receipt.schemaMismatch', { keyword: receipt.schemaMismatch })}
          </Alert>
        )}
      </Section>
      <Section title={t('receipt.cost')} description={t(`receipt.basis.${receipt.costBasis}`)}>
        <CostTable receipt={receipt} />
        {receipt.estimated && <Alert color="orange">{t('receipt.estimated')}</Alert>}
      </Section>
      {receipt.rawUsage && (
        <Section title={t('receipt.raw')} description={t('receipt.rawDescription')}>
          <CodeBlock code={JSON.stringify(receipt.rawUsage, null, 2)} language="json" label={t('receipt.raw')} />
        </Section>
      )}
    </Page>
  )
}

/** An id without a receipt keeps the search field, so that the next id can be entered. */
export function ReceiptError(props: ErrorComponentProps) {
  const { t } = useTranslation('devtools')
  if (!(props.error instanceof ApiError) || props.error.status !== 404) return <ErrorState {...props} />
  return (
    <Page title={t('receipt.searchTitle')} description={t('receipt.searchDescription')}>
      <ReceiptSearch />
      <EmptyState title={t('receipt.none')} text={t('receipt.noneText')} />
    </Page>
  )
}

function ReceiptSearch() {
  const { t } = useTranslation('devtools')
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
          label={t('receipt.requestId')}
          placeholder="req_…"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          maxLength={100}
          w={{ base: '100%', xs: 420 }}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        />
        <Button type="submit" disabled={requestId === ''}>
          {t('receipt.find')}
        </Button>
      </Group>
    </form>
  )
}

function RequestFacts({ receipt }: { receipt: ReceiptBody }) {
  const { t } = useTranslation('devtools')
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
  const ending = known.find((one) => one === receipt.ending)
  return (
    <Stack>
      <Facts
        facts={[
          [t('receipt.startedAt'), <Time key="started" value={startedAt} />],
          [t('receipt.duration'), format.duration(Date.parse(receipt.settledAt) - Date.parse(startedAt))],
          [
            t('receipt.ending'),
            <Badge key="ending" variant="light" color={receipt.ending === 'completed' ? 'teal' : 'orange'}>
              {ending ? t(`receipt.endings.${ending}`) : receipt.ending}
            </Badge>,
          ],
          [t('receipt.finishReason'), receipt.finishReason ?? '—'],
          [
            t('receipt.model'),
            <Text key="model" span inherit ff="monospace">
              {receipt.model}
            </Text>,
          ],
          [t('receipt.surface'), t(`receipt.surfaces.${receipt.surface}`)],
          [t('receipt.hosting'), receipt.hosting ?? '—'],
          [t('receipt.deployment'), receipt.deploymentId ?? '—'],
          [t('receipt.promptTokens'), format.number(usage.promptTokens)],
          [t('receipt.completionTokens'), format.number(usage.completionTokens)],
          [t('receipt.period'), format.day(receipt.period)],
          [t('receipt.priceSource'), receipt.priceSource],
        ]}
      />
    </Stack>
  )
}
