import type { SemanticSearchBody } from '@contract/semantic-search.ts'
import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Section } from '../../ui/section.tsx'
import { useSemanticSearch } from './use-semantic-search.ts'

type Indexing = NonNullable<SemanticSearchBody['indexing']>

/** How many documents have their vectors, and what keeps the others from theirs. */
export function IndexingSection({ view, indexing }: { view: SemanticSearchBody; indexing: Indexing }) {
  const { t } = useTranslation('semantic-search')
  const format = useFormat()
  const { documentsDone: done, documentsTotal: total, problem } = indexing
  const text = t('indexing.progress', { done: format.number(done), total: format.number(total) })
  return (
    <Section title={t('indexing.title')} description={t('indexing.text')}>
      <Stack gap="xs">
        <Text size="sm" fw={600} role="status">
          {text}
        </Text>
        <Progress value={total === 0 ? 0 : (done / total) * 100} aria-label={text} />
        {problem && <Problem view={view} problem={problem} />}
      </Stack>
    </Section>
  )
}

function Problem({ view, problem }: { view: SemanticSearchBody; problem: NonNullable<Indexing['problem']> }) {
  const { t } = useTranslation('semantic-search')
  const format = useFormat()
  const { change } = useSemanticSearch(view)
  const { model, source } = view
  // The sentence of a used up budget is for programmers.
  const resets = /budget resets at (\S+Z)/.exec(problem.reason)?.[1]
  const names = problem.organisations.map(({ id, name }) => name ?? id)
  return (
    <Alert color="orange" title={t('problem.title')}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {resets === undefined ? problem.reason : t('problem.budget', { date: format.date(resets) })}
        </Text>
        <Text size="sm">
          {names.length > 0 ? t('problem.organisations', { names: names.join(', ') }) : t('problem.all')}
        </Text>
        {source === 'console' && model !== null && (
          <Group>
            <Button variant="default" loading={change.isPending} onClick={() => change.mutate(model)}>
              {t('problem.again')}
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  )
}
