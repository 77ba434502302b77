import type { NewApiKeyBody } from '@contract/operator.ts'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'
import { ButtonLink } from '../../ui/link.tsx'
import { Page } from '../../ui/page.tsx'
import { AccessSection } from './access-section.tsx'
import { KeySection } from './key-section.tsx'
import { ModelsSection } from './models-section.tsx'
import { developerToolsQuery } from './routes.tsx'
import { SnippetsSection } from './snippets-section.tsx'

const GatewaySteps = lazyPart(() => import('./gateway-steps.tsx'), 'GatewaySteps')

/** Team Settings > Developer Tools. */
export function DeveloperToolsPage() {
  const { t } = useTranslation('devtools')
  const { organisationId } = organisationRoute.useParams()
  const { data: view } = useSuspenseQuery(developerToolsQuery(organisationId))
  const hasCalled = typeof view.apiKey?.lastUsedAt === 'string'
  // The only copy of a new key in the browser; it is gone when the page is left.
  const [newKey, setNewKey] = useState<NewApiKeyBody>()
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        <>
          <ButtonLink variant="default" to="/organisations/$organisationId/receipts" params={{ organisationId }}>
            {t('findReceipt')}
          </ButtonLink>
          <ButtonLink variant="default" to="/organisations/$organisationId/playground" params={{ organisationId }}>
            {t('openPlayground')}
          </ButtonLink>
        </>
      }
    >
      <OnceOpened opened={!hasCalled}>
        <GatewaySteps view={view} />
      </OnceOpened>
      <AccessSection view={view} />
      <KeySection view={view} newKey={newKey} onMade={setNewKey} />
      <SnippetsSection view={view} apiKey={newKey?.key} />
      <ModelsSection view={view} />
    </Page>
  )
}
