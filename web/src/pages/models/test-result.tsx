import type { ProviderTest } from '@contract/models.ts'
import { Alert, Group, List, Text, ThemeIcon } from '@mantine/core'
import { IconCheck, IconMinus, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'

type Step = ProviderTest['steps'][number]

const icons = { passed: IconCheck, failed: IconX, skipped: IconMinus }
const colors = { passed: 'teal', failed: 'red', skipped: 'gray' }

/** What a test found, step by step, and what to do about it. */
export function TestResult({ result }: { result: ProviderTest }) {
  const { t } = useTranslation('models')
  return (
    <>
      <List listStyleType="none" spacing={6} withPadding={false} aria-label={t('test.steps')}>
        {result.steps.map((step) => (
          <StepItem key={step.step} step={step} />
        ))}
      </List>
      {result.error && <Advice error={result.error} />}
      {!result.error && result.deployment === null && <Alert color="blue">{t('test.noDeployment')}</Alert>}
    </>
  )
}

function StepItem({ step }: { step: Step }) {
  const { t } = useTranslation('models')
  const format = useFormat()
  const Icon = icons[step.result]
  const details = [
    step.models === null ? undefined : t('test.models', { count: step.models }),
    step.durationMs === null ? undefined : format.duration(step.durationMs),
  ].filter((one) => one !== undefined)
  return (
    <List.Item
      icon={
        <ThemeIcon size={20} radius="xl" variant="light" color={colors[step.result]}>
          <Icon size={14} aria-hidden />
        </ThemeIcon>
      }
    >
      <Group gap="xs">
        <Text size="sm">{t(`step.${step.step}`)}</Text>
        <Dimmed>{[t(`stepResult.${step.result}`), ...details].join(' · ')}</Dimmed>
      </Group>
    </List.Item>
  )
}

const connectionCodes = ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'UND_ERR_CONNECT_TIMEOUT'] as const
const knownClasses = [
  'authentication',
  'quota',
  'model_not_found',
  'rate_limit',
  'invalid_request',
  'connection',
  'timeout',
] as const

/** The answer of the provider, and what an operator can do. */
export function Advice({ error }: { error: NonNullable<ProviderTest['error']> }) {
  const { t } = useTranslation('models')
  const code = connectionCodes.find((one) => one === error.code)
  const isCertificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(error.code ?? '')
  const known = knownClasses.find((one) => one === error.class) ?? 'other'
  return (
    <Alert color="red" title={t(`errorTitle.${known}`)}>
      <Text size="sm">
        {isCertificate ? t('advice.certificate') : code ? t(`connectionAdvice.${code}`) : t(`advice.${known}`)}
      </Text>
      <Dimmed mt={6} ff="monospace" fz="xs" style={{ overflowWrap: 'anywhere' }}>
        {[error.status, error.code, error.message].filter((part) => part !== null).join(' · ')}
      </Dimmed>
    </Alert>
  )
}
