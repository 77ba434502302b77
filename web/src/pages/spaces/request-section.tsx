import '@mantine/core/styles/Checkbox.css'
import '@mantine/core/styles/CheckboxIndicator.css'
import '@mantine/core/styles/CheckboxCard.css'
import { Checkbox, Code, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { CodeSnippets } from '../../ui/code-block.tsx'
import { Section } from '../../ui/section.tsx'
import { curlSnippet, mcpSnippets, pythonSnippet, typescriptSnippet } from './snippets.ts'

const switchHeaders = [
  { name: 'service-enable-inline-sources', key: 'inline' },
  { name: 'service-enable-agentic-workflow', key: 'agentic' },
  { name: 'service-enable-passage-references', key: 'passages' },
] as const

const events = ['message_source', 'assistant_write', 'references', 'done', 'error'] as const

/** The request that callers of the endpoint send: choose its headers, copy the code. */
export function RequestSection({ endpointUrl }: { endpointUrl: string }) {
  const { t } = useTranslation('spaces')
  const [streaming, setStreaming] = useState(true)
  const [chosen, setChosen] = useState<string[]>(['service-enable-inline-sources'])
  const headers = switchHeaders.map(({ name }) => name).filter((name) => chosen.includes(name))
  const options = { endpointUrl, streaming, headers }
  return (
    <>
      <Section title={t('request.title')} description={t('request.description')}>
        <Stack gap="xs" mb="sm">
          <Checkbox
            label={<Code>streaming: true</Code>}
            description={t('request.streaming')}
            checked={streaming}
            onChange={({ currentTarget }) => setStreaming(currentTarget.checked)}
          />
          <Checkbox.Group value={chosen} onChange={setChosen} aria-label={t('request.headers')}>
            <Stack gap="xs">
              {switchHeaders.map(({ name, key }) => (
                <Checkbox key={name} value={name} label={<Code>{name}</Code>} description={t(`request.${key}`)} />
              ))}
            </Stack>
          </Checkbox.Group>
        </Stack>
        <CodeSnippets
          snippets={[
            { label: 'curl', code: curlSnippet(options) },
            { label: 'TypeScript', code: typescriptSnippet(options) },
            { label: 'Python', code: pythonSnippet(options) },
          ]}
        />
      </Section>
      {streaming && (
        <Section title={t('events.title')} description={t('events.description')}>
          <Stack gap={6} component="dl" m={0}>
            {events.map((name) => (
              <div key={name}>
                <dt style={{ display: 'inline' }}>
                  <Code>{name}</Code>
                </dt>{' '}
                <Text component="dd" size="sm" m={0} style={{ display: 'inline' }}>
                  {t(`events.${name}`)}
                </Text>
              </div>
            ))}
          </Stack>
        </Section>
      )}
      <Section title={t('assistants.title')} description={t('assistants.description')}>
        <CodeSnippets snippets={mcpSnippets(endpointUrl)} />
      </Section>
    </>
  )
}
