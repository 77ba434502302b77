import '@mantine/core/styles/Grid.css'
import type { DeveloperToolsView } from '@contract/console-developer-tools.ts'
import { Alert, Button, Grid, Group, Stack } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { Page } from '../../ui/page.tsx'
import { version2Of } from '../devtools/base-url.ts'
import { developerToolsQuery } from '../devtools/routes.tsx'
import { ConversationView } from './conversation-view.tsx'
import { type Draft, emptyDraft, isBlank, MessageForm } from './message-form.tsx'
import { callableModels } from './model-needs.ts'
import { firstChoice } from '../devtools/callable-ids.ts'
import { attachmentsOf, blankAnswer, type Turn, withoutFailedResults } from './request.ts'
import { firstSettings, SettingsForm } from './settings-form.tsx'
import { useConversation } from './use-conversation.ts'
import { useRequest } from './use-request.ts'

const CodeDialog = lazyPart(() => import('./code-dialog.tsx'), 'CodeDialog')

/** Tries the models of the gateway with the rights of the signed-in person: same checks, same cost, same receipt as with the key. */
export function PlaygroundPage() {
  const { organisationId } = organisationRoute.useParams()
  const { data: view } = useSuspenseQuery(developerToolsQuery(organisationId))
  // Another organisation has other models: the page begins again.
  return <Playground key={organisationId} view={view} />
}

function Playground({ view }: { view: DeveloperToolsView }) {
  const { t } = useTranslation(['playground', 'devtools'])
  const { id: organisationId } = view.organisation
  const models = useMemo(() => callableModels(view.models), [view.models])
  const { model: wanted } = useSearch({ strict: false }) as { model?: string }
  const [settings, setSettings] = useState(() =>
    firstSettings((models.find(({ id }) => id === wanted) ?? firstChoice(models))?.id ?? ''),
  )
  const [draft, setDraft] = useState(emptyDraft)
  const input = useRef<HTMLTextAreaElement>(null)
  const { turns, ask, stop, clear, isRunning } = useConversation(organisationId)
  const kept = withoutFailedResults(turns)
  const sentAttachments = attachmentsOf(kept)
  const { request, needs, problems, isBlocked, prepare } = useRequest({
    settings,
    models,
    attachments: [...sentAttachments, ...draft.attachments],
    lastError: turns.at(-1)?.answer.error,
  })
  const send = () => {
    const prepared = prepare()
    if (!prepared) return
    void ask({ kind: 'question', ...draft }, prepared, kept)
    setDraft(emptyDraft)
  }
  const sendResults = (results: Record<string, string>) => {
    const prepared = prepare()
    if (!prepared) return
    void ask({ kind: 'results', results }, prepared, kept)
    input.current?.focus()
  }
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        <Group gap="xs">
          <CodeButton request={request} prepare={prepare} turns={kept} draft={draft} baseUrl={view.baseUrl} />
          <Button variant="default" onClick={clear} disabled={turns.length === 0}>
            {t('clear')}
          </Button>
        </Group>
      }
    >
      <MissingAlert view={view} />
      {models.length === 0 ? (
        <EmptyState title={t('devtools:models.none')} text={t('devtools:models.noneText')} />
      ) : (
        <Grid gap={{ base: 'md', lg: 'xl' }}>
          <Grid.Col span={{ base: 12, md: 4, xl: 3 }}>
            <SettingsForm {...{ models, needs, settings, problems }} onChange={setSettings} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 8, xl: 9 }}>
            <Stack gap="md">
              <ConversationView organisationId={organisationId} turns={turns} onResults={sendResults} />
              <MessageForm
                {...{ draft, sentAttachments, isRunning, isBlocked }}
                inputRef={input}
                onChange={setDraft}
                onSend={send}
                onStop={stop}
              />
            </Stack>
          </Grid.Col>
        </Grid>
      )}
    </Page>
  )
}

interface CodeButtonProps extends Pick<ReturnType<typeof useRequest>, 'request' | 'prepare'> {
  turns: Turn[]
  draft: Draft
  baseUrl: string
}

/** The code of the conversation with the message that is being written. */
function CodeButton({ request, prepare, turns, draft, baseUrl }: CodeButtonProps) {
  const { t } = useTranslation(['playground', 'devtools'])
  const [isShown, show] = useState(false)
  const written = isBlank(draft)
    ? turns
    : [...turns, { id: 0, input: { kind: 'question' as const, ...draft }, answer: blankAnswer }]
  return (
    <>
      <Button variant="default" onClick={() => prepare() && show(true)} disabled={written.length === 0}>
        {t('code.open')}
      </Button>
      <OnceOpened opened={isShown}>
        <CodeDialog
          settings={request}
          turns={written}
          baseUrl={version2Of(baseUrl)}
          opened={isShown}
          onClose={() => show(false)}
        />
      </OnceOpened>
    </>
  )
}

/** What the gateway still needs before a request can succeed. */
function MissingAlert({ view: { missing, organisation } }: { view: DeveloperToolsView }) {
  const { t } = useTranslation(['playground', 'devtools'])
  const first = missing.find((requirement) => requirement !== 'api_key')
  if (first === undefined) return null
  return (
    <Alert color="orange" title={t('closed')}>
      {t(`devtools:access.${first}.title`)}.{' '}
      <AnchorLink
        inherit
        to="/organisations/$organisationId/developer-tools"
        params={{ organisationId: organisation.id }}
      >
        {t('openDeveloperTools')}
      </AnchorLink>
    </Alert>
  )
}
