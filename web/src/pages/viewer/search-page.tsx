import { Button, Group, Stack, Textarea } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import type { SpaceSearchRequest, SpaceSearchResult } from '@contract/space-search.ts'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError, postJson } from '../../api/client.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { LoadingState } from '../../ui/loading-state.tsx'
import { Page } from '../../ui/page.tsx'
import { isComplete, RequiredFilterFields, type RequiredValues, toRequiredFilter } from '../../ui/required-filter.tsx'
import { spaceQuery } from '../spaces/queries.ts'
import { searchRoute } from './routes.tsx'
import { SearchResult } from './search/search-result.tsx'

interface Question {
  question: string
  /** The question before it, of the same conversation; may be empty. */
  earlier: string
  /** Of the fields that the Space requires. */
  values: RequiredValues
}

/** The retrieval tester: what the chat of the Space finds for a question, and why. */
export function SearchPage() {
  const { t } = useTranslation('viewer')
  const { spaceId } = searchRoute.useParams()
  const navigate = searchRoute.useNavigate()
  const { question = '' } = searchRoute.useSearch()
  const { requiredFilter } = useSuspenseQuery(spaceQuery(spaceId)).data.settings
  const [asked, setAsked] = useState<Question>({ question, earlier: '', values: {} })
  const isAsked = asked.question !== '' && isComplete(requiredFilter, asked.values)
  const search = useQuery({
    queryKey: ['space', spaceId, 'search', asked],
    queryFn: ({ signal }) =>
      postJson<SpaceSearchResult>(
        `/api/spaces/${encodeURIComponent(spaceId)}/search`,
        toRequest(asked, requiredFilter),
        { signal },
      ),
    enabled: isAsked,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const ask = (next: Question) => {
    if (JSON.stringify(next) === JSON.stringify(asked)) return void search.refetch()
    setAsked(next)
    void navigate({ search: { question: next.question }, replace: true })
  }
  return (
    <Page title={t('search.title')} description={t('search.description')}>
      <QuestionForm initial={asked} fields={requiredFilter} isBusy={search.isFetching} onAsk={ask} />
      {!isAsked ? (
        <EmptyState title={t('search.start')} text={t('search.startText')} />
      ) : search.isPending ? (
        <LoadingState />
      ) : search.isError ? (
        <EmptyState drawing="broken" title={t('search.failed')} text={messageOf(search.error)} />
      ) : (
        <SearchResult result={search.data} />
      )}
    </Page>
  )
}

function messageOf(error: Error): string {
  return error instanceof ApiError && error.requestId ? `${error.message} (${error.requestId})` : error.message
}

function toRequest({ question, earlier, values }: Question, fields: readonly string[]): SpaceSearchRequest {
  const filter = toRequiredFilter(fields, values)
  const turn = { role: 'user' as const, content: question }
  const before = [
    { role: 'user' as const, content: earlier },
    { role: 'assistant' as const, content: '…' },
  ]
  return { messages: earlier === '' ? [turn] : [...before, turn], candidates: 50, ...(filter && { filter }) }
}

function QuestionForm(props: {
  initial: Question
  fields: readonly string[]
  isBusy: boolean
  onAsk(question: Question): void
}) {
  const { initial, fields, isBusy, onAsk } = props
  const { t } = useTranslation('viewer')
  const [question, setQuestion] = useState(initial.question)
  const [values, setValues] = useState(initial.values)
  const isReady = question.trim() !== '' && isComplete(fields, values)
  const [earlier, setEarlier] = useState('')
  const [hasEarlier, setHasEarlier] = useState(false)
  const submit = (event: FormEvent | KeyboardEvent) => {
    event.preventDefault()
    if (isReady) onAsk({ question: question.trim(), earlier: hasEarlier ? earlier.trim() : '', values })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) submit(event)
  }
  const field = { autosize: true, minRows: 1, maxRows: 6, maxLength: 10_000, onKeyDown }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" maw={900}>
        <RequiredFilterFields fields={fields} values={values} onChange={setValues} hint={t('search.filterHint')} />
        {hasEarlier && (
          <Textarea
            {...field}
            label={t('search.earlier')}
            description={t('search.earlierText')}
            value={earlier}
            onChange={(event) => setEarlier(event.currentTarget.value)}
          />
        )}
        <Textarea
          {...field}
          label={t('search.question')}
          placeholder={t('search.placeholder')}
          data-autofocus
          value={question}
          onChange={(event) => setQuestion(event.currentTarget.value)}
        />
        <Group gap="sm">
          <Button type="submit" loading={isBusy} disabled={!isReady} leftSection={<IconSearch size={16} />}>
            {t('search.submit')}
          </Button>
          <Button variant="subtle" color="gray" onClick={() => setHasEarlier(!hasEarlier)}>
            {t(hasEarlier ? 'search.withoutEarlier' : 'search.withEarlier')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
