import { Alert, Group, Stack, Text } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { CodeBlock } from '../../ui/code-block.tsx'
import { findJsonProblem, indentJson } from '../../ui/json-text.ts'
import type { Verdict } from './request.ts'

const knownRules = ['type', 'required', 'enum', 'additionalProperties'] as const

/** An answer to a request with a schema, and how it compares. */
export function JsonAnswer({ text, verdict }: { text: string; verdict: Verdict }) {
  const { t } = useTranslation('playground')
  const isJson = findJsonProblem(text) === undefined
  return (
    <Stack gap="xs">
      <CodeBlock code={isJson ? indentJson(text) : text} language="json" label={t('verdict.answer')} />
      {verdict.matches ? (
        <Group gap={6} wrap="nowrap">
          <IconCircleCheck size={18} aria-hidden color="var(--mantine-color-green-filled)" style={{ flex: 'none' }} />
          <Text size="sm">{t('verdict.matches')}</Text>
        </Group>
      ) : (
        <Alert color="orange" title={t('verdict.differs')}>
          <Mismatch {...verdict} />
        </Alert>
      )}
    </Stack>
  )
}

function Mismatch({ place, rule }: Extract<Verdict, { matches: false }>) {
  const { t } = useTranslation('playground')
  if (rule === 'json') return t('verdict.noJson')
  const known = knownRules.find((one) => one === rule)
  const said = known ? t(`verdict.rules.${known}`) : t('verdict.rule', { rule })
  return place === '/' ? said : `${t('verdict.at', { place })} ${said}`
}
