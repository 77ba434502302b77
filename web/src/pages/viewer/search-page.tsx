import { Button, Group, Stack, Textarea } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { SpaceSearchRequest, SpaceSearchResult } from '@contract/space-search.ts'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError, postJson } from '../../api/client.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { LoadingState } from '../../ui/loading-state.tsx'
import { Page } from '../../ui/page.tsx'
import { searchRoute } from './routes.tsx'
import { SearchResult } from './search/search-result.tsx'

interface Question {
  question: string
  /** The question before it, of the same conversation; may be empty. */
  earlier: string
}

/** The retrieval tester: what the chat of the Space finds for a question, and why. */
export function SearchPage() {
  const { t } = useTranslation('viewer')
  const { spaceId } = searchRoute.useParams()
  const navigate = searchRoute.useNavigate()
  const { question = '' } = searchRoute.useSearch()
  const [asked, setAsked] = useState<Question>({ question, earlier: '' })
  const search = useQuery({
    queryKey: ['space', spaceId, 'search', asked],
    queryFn: ({ signal }) =>
      postJson<SpaceSearchResult>(`/api/spaces/${encodeURIComponent(spaceId)}/search`, toRequest(asked), { signal }),
    enabled: asked.question !== '',
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const ask = (next: Question) => {
    if (next.question === asked.question && next.earlier === asked.earlier) return void search.refetch()
    setAsked(next)
    void navigate({ search: { question: next.question }, replace: true })
  }
  return (
    <Page title={t('search.title')} description={t('search.description')}>
      <QuestionForm initial={asked} isBusy={search.isFetching} onAsk={ask} />
      {asked.question === '' ? (
        <EmptyState title={t('search.start')} text={t('search.startText')} />
      ) : search.isPending ? (
        <LoadingState />
      ) : search.isError ? (
        <EmptyState title={t('search.failed')} text={messageOf(search.error)} />
      ) : (
        <SearchResult result={search.data} />
      )}
    </Page>
  )
}

function messageOf(error: Error): string {
  return error instanceof ApiError && error.requestId ? `${error.message} (${error.requestId})` : error.message
}

function toRequest({ question, earlier }: Question): SpaceSearchRequest {
  const turn = { role: 'user' as const, content: question }
  const before = [
    { role: 'user' as const, content: earlier },
    { role: 'assistant' as const, content: '…' },
  ]
  return { messages: earlier === '' ? [turn] : [...before, turn], candidates: 50 }
}

function QuestionForm(props: { initial: Question; isBusy: boolean; onAsk(question: Question): void }) {
  const { initial, isBusy, onAsk } = props
  const { t } = useTranslation('viewer')
  const [question, setQuestion] = useState(initial.question)
  const [earlier, setEarlier] = useState('')
  const [hasEarlier, setHasEarlier] = useState(false)
  const submit = (event: FormEvent | KeyboardEvent) => {
    event.preventDefault()
    if (question.trim() !== '') onAsk({ question: question.trim(), earlier: hasEarlier ? earlier.trim() : '' })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) submit(event)
  }
  const field = { autosize: true, minRows: 1, maxRows: 6, maxLength: 10_000, onKeyDown }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" maw={900}>
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
          <Button
            type="submit"
            loading={isBusy}
            disabled={question.trim() === ''}
            leftSection={<IconSearch size={16} />}
          >
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
