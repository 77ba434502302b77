import { Alert, Code, Group, Loader, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { receiptQuery } from '../receipts/routes.tsx'
import { JsonAnswer } from './json-answer.tsx'
import type { Answer } from './request.ts'
import { ToolCalls } from './tool-calls.tsx'

interface AnswerViewProps {
  organisationId: string
  answer: Answer
  /** Of the answer's calls, if they were sent. */
  results: Readonly<Record<string, string>> | undefined
  /** Undefined: the answer does not wait for results. */
  onResults: ((results: Record<string, string>) => void) | undefined
}

export function AnswerView({ organisationId, answer, results, onResults }: AnswerViewProps) {
  const { t } = useTranslation('playground')
  const { state, text, error, reasoning, calls, verdict } = answer
  return (
    <Stack gap={6} px="sm" aria-busy={state === 'waiting' || state === 'streaming'}>
      <Dimmed size="xs" fw={600} ff="monospace">
        {answer.model}
      </Dimmed>
      {reasoning !== '' && <Reasoning text={reasoning} />}
      {verdict ? (
        <JsonAnswer {...{ text, verdict }} />
      ) : (
        text !== '' && <Text style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{text}</Text>
      )}
      {calls.length > 0 && <ToolCalls {...{ calls, results, onResults }} isComplete={state === 'done'} />}
      {state === 'waiting' && <Loader type="dots" size="sm" aria-label={t('waiting')} role="status" />}
      {state === 'stopped' && <Dimmed>{t('stopped')}</Dimmed>}
      {error && <Failure organisationId={organisationId} error={error} />}
      <Measurements organisationId={organisationId} answer={answer} />
    </Stack>
  )
}

const Reasoning = ({ text }: { text: string }) => {
  const { t } = useTranslation('playground')
  return (
    <Text size="sm" c="dimmed" component="details">
      <summary>{t('reasoning')}</summary>
      <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {text}
      </Text>
    </Text>
  )
}

/** Codes for which the page knows a way out; the others show the message of the server only. */
const codesWithWayOut = [
  'gateway_not_enabled',
  'subscription_required',
  'insufficient_quota',
  'model_not_found',
  'context_length_exceeded',
  'unsupported_parameter',
  'content_filter',
  'rate_limit_exceeded',
  'upstream_error',
  'upstream_timeout',
  'overloaded',
  'shutting_down',
  'no_connection',
  'incomplete',
] as const

function Failure({ organisationId, error }: { organisationId: string; error: { code: string; message: string } }) {
  const { t } = useTranslation('playground')
  const code = codesWithWayOut.find((known) => known === error.code)
  const page = code === 'gateway_not_enabled' ? 'developer-tools' : code === 'insufficient_quota' ? 'usage' : undefined
  return (
    <Alert color="red" title={<Code>{error.code}</Code>} role="alert">
      <Stack gap={4}>
        {error.message !== '' && <Text size="sm">{error.message}</Text>}
        {code && <Text size="sm">{t(`wayOut.${code}`)}</Text>}
        {page && (
          <AnchorLink size="sm" to={`/organisations/${organisationId}/${page}` as '/'}>
            {t(page === 'usage' ? 'openUsage' : 'openDeveloperTools')}
          </AnchorLink>
        )}
      </Stack>
    </Alert>
  )
}

/** Times, tokens and cost. The receipt is written when the answer has ended; of a stopped answer some moments later. */
function Measurements({ organisationId, answer }: { organisationId: string; answer: Answer }) {
  const { t } = useTranslation('playground')
  const format = useFormat()
  const { state, requestId, firstTextMs, totalMs, usage } = answer
  const hasEnded = totalMs !== undefined
  const hasReceipt = hasEnded && requestId !== undefined && (state !== 'failed' || answer.text !== '')
  const { data: receipt, isError } = useQuery({
    ...receiptQuery(requestId ?? ''),
    enabled: hasReceipt,
    retry: (failures, error) => error instanceof ApiError && error.status === 404 && failures < 12,
    retryDelay: (failures) => Math.min(250 * 1.5 ** failures, 8_000),
  })
  const [prompt, output] = [
    receipt?.usage.promptTokens ?? usage?.prompt_tokens,
    receipt?.usage.completionTokens ?? usage?.completion_tokens,
  ]
  return (
    <Group fz="xs" c="dimmed" style={{ columnGap: 16, rowGap: 2 }}>
      {firstTextMs !== undefined && <span>{t('firstText', { time: format.duration(firstTextMs) })}</span>}
      {hasEnded && <span>{t('total', { time: format.duration(totalMs) })}</span>}
      {prompt !== undefined && output !== undefined && (
        <span>{t('tokens', { prompt: format.number(prompt), output: format.number(output) })}</span>
      )}
      {receipt && <span>{t('cost', { cost: format.money(receipt.billedUsd, { exact: true }) })}</span>}
      {hasReceipt && !receipt && !isError && <span>{t('costPending')}</span>}
      {requestId && (receipt || !hasReceipt) && (
        <Receipt organisationId={organisationId} requestId={requestId} isLink={receipt !== undefined} />
      )}
    </Group>
  )
}

function Receipt(props: { organisationId: string; requestId: string; isLink: boolean }) {
  const { organisationId, requestId, isLink } = props
  const { t } = useTranslation('playground')
  if (!isLink) return <Code fz="xs">{requestId}</Code>
  return (
    <AnchorLink inherit to="/organisations/$organisationId/receipts/$requestId" params={{ organisationId, requestId }}>
      {t('receipt')}
    </AnchorLink>
  )
}
