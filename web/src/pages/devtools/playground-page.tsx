import type { DeveloperToolsView } from '@contract/console-developer-tools.ts'
import { Alert, Anchor, Button, Grid } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Page } from '../../ui/page.tsx'
import { callableIds } from './callable-ids.ts'
import { type PlaygroundSettings, useConversation } from './conversation.ts'
import { ConversationView } from './conversation-view.tsx'
import { developerToolsQuery } from './routes.tsx'
import { SettingsForm } from './settings-form.tsx'

/** Tries the models of the gateway with the rights of the signed-in person: same checks, same cost, same receipt as with the key. */
export function PlaygroundPage() {
  const { organisationId } = organisationRoute.useParams()
  const { data: view } = useSuspenseQuery(developerToolsQuery(organisationId))
  // Another organisation has other models: the page begins again.
  return <Playground key={organisationId} view={view} />
}

function Playground({ view }: { view: DeveloperToolsView }) {
  const { t } = useTranslation('devtools')
  const { id: organisationId } = view.organisation
  const ids = useMemo(() => callableIds(view.models), [view.models])
  const { model: wanted } = useSearch({ strict: false }) as { model?: string }
  const [settings, setSettings] = useState<PlaygroundSettings>({
    model: wanted !== undefined && ids.includes(wanted) ? wanted : (ids[0] ?? ''),
    system: '',
    temperature: undefined,
    maximumTokens: undefined,
  })
  const conversation = useConversation(organisationId)
  const { turns, ask, stop, clear, isRunning } = conversation
  return (
    <Page
      title={t('playground.title')}
      description={t('playground.description')}
      actions={
        <Button variant="default" onClick={clear} disabled={turns.length === 0}>
          {t('playground.clear')}
        </Button>
      }
    >
      <MissingAlert view={view} />
      {ids.length === 0 ? (
        <EmptyState title={t('models.none')} text={t('models.noneText')} />
      ) : (
        <Grid gap={{ base: 'md', lg: 'xl' }}>
          <Grid.Col span={{ base: 12, md: 4, xl: 3 }}>
            <SettingsForm ids={ids} models={view.models} settings={settings} onChange={setSettings} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 8, xl: 9 }}>
            <ConversationView
              organisationId={organisationId}
              turns={turns}
              isRunning={isRunning}
              onAsk={(question) => void ask(question, settings, turns)}
              onStop={stop}
            />
          </Grid.Col>
        </Grid>
      )}
    </Page>
  )
}

/** What the gateway still needs before a request can succeed. */
function MissingAlert({ view: { missing, organisation } }: { view: DeveloperToolsView }) {
  const { t } = useTranslation('devtools')
  const first = missing.find((requirement) => requirement !== 'api_key')
  if (first === undefined) return null
  return (
    <Alert color="orange" title={t('playground.closed')}>
      {t(`access.${first}.title`)}.{' '}
      <Anchor
        inherit
        renderRoot={(props) => (
          <Link
            to="/organisations/$organisationId/developer-tools"
            params={{ organisationId: organisation.id }}
            {...props}
          />
        )}
      >
        {t('playground.openDeveloperTools')}
      </Anchor>
    </Alert>
  )
}
