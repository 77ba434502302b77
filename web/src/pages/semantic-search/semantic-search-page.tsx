import type { SemanticSearchBody } from '@contract/semantic-search.ts'
import { Alert, Badge, Button, Group, Stack } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { openConfirm } from '../../ui/confirm.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { ButtonLink } from '../../ui/link.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { IndexingSection } from './indexing-section.tsx'
import { LocalSection } from './local-section.tsx'
import { OffersTable } from './offers-table.tsx'
import { semanticSearchQuery } from './routes.tsx'
import { useSemanticSearch } from './use-semantic-search.ts'

/** The embedding model of the installation: what it costs, the choice, and the progress of indexing. */
export function SemanticSearchPage() {
  const { t } = useTranslation('semantic-search')
  const { data: view } = useSuspenseQuery(semanticSearchQuery)
  const isConfigured = view.source === 'configuration'
  return (
    <Page title={t('title')} description={t('text')} actions={<StateBadge view={view} />}>
      <Stack gap="xl" maw={960}>
        {isConfigured && (
          <Alert color="gray" title={t('configured.title')}>
            {t('configured.text', { embedder: view.embedder })}
          </Alert>
        )}
        {view.model !== null && !isConfigured && <ChosenSection view={view} model={view.model} />}
        {view.indexing && <IndexingSection view={view} indexing={view.indexing} />}
        {!isConfigured && <OffersSection view={view} />}
        {!isConfigured && <LocalSection view={view} />}
      </Stack>
    </Page>
  )
}

function StateBadge({ view: { hasSemantics, indexing } }: { view: SemanticSearchBody }) {
  const { t } = useTranslation('semantic-search')
  const state = indexing ? 'indexing' : hasSemantics ? 'on' : 'off'
  return (
    <Badge color={state === 'off' ? 'gray' : 'teal'} variant="light" size="lg">
      {t(`state.${state}`)}
    </Badge>
  )
}

function ChosenSection({ view, model }: { view: SemanticSearchBody; model: string }) {
  const { t } = useTranslation('semantic-search')
  const { change } = useSemanticSearch(view)
  const confirmOff = () =>
    openConfirm({
      title: t('chosen.offTitle'),
      text: t(model === view.local.model ? 'chosen.offLocal' : 'chosen.offText'),
      confirm: t('chosen.off'),
      onConfirm: () => change.mutate(null),
    })
  const isLocal = model === view.local.model
  const isOffered = isLocal || view.offers.some((offer) => offer.model === model)
  return (
    <Section
      title={t('chosen.title')}
      description={t(isLocal ? 'chosen.local' : 'chosen.text', { model })}
      actions={
        <Button variant="default" loading={change.isPending} onClick={confirmOff}>
          {t('chosen.off')}
        </Button>
      }
    >
      {!isOffered && <Alert color="orange">{t('chosen.missing')}</Alert>}
    </Section>
  )
}

function OffersSection({ view }: { view: SemanticSearchBody }) {
  const { t } = useTranslation('semantic-search')
  if (view.offers.length === 0)
    return (
      <Section title={t('offers.none')} description={t('offers.noneText')}>
        <Group>
          <ButtonLink to="/operator/providers">{t('offers.addProvider')}</ButtonLink>
        </Group>
      </Section>
    )
  return (
    <Section title={t('offers.title')} description={t('offers.text')}>
      <OffersTable view={view} />
      <Dimmed maw={720}>{t('offers.later')}</Dimmed>
    </Section>
  )
}
