import type { NewApiKeyBody } from '@contract/operator.ts'
import { Button } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { Page } from '../../ui/page.tsx'
import { AccessSection } from './access-section.tsx'
import { GatewaySteps } from './gateway-steps.tsx'
import { KeySection } from './key-section.tsx'
import { ModelsSection } from './models-section.tsx'
import { developerToolsQuery } from './routes.tsx'
import { SnippetsSection } from './snippets-section.tsx'

/** Team Settings > Developer Tools. */
export function DeveloperToolsPage() {
  const { t } = useTranslation('devtools')
  const { organisationId } = organisationRoute.useParams()
  const { data: view } = useSuspenseQuery(developerToolsQuery(organisationId))
  // The only copy of a new key in the browser; it is gone when the page is left.
  const [newKey, setNewKey] = useState<NewApiKeyBody>()
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        <>
          <Button
            variant="default"
            renderRoot={(props) => (
              <Link to="/organisations/$organisationId/receipts" params={{ organisationId }} {...props} />
            )}
          >
            {t('findReceipt')}
          </Button>
          <Button
            variant="default"
            renderRoot={(props) => (
              <Link to="/organisations/$organisationId/playground" params={{ organisationId }} {...props} />
            )}
          >
            {t('openPlayground')}
          </Button>
        </>
      }
    >
      <GatewaySteps view={view} />
      <AccessSection view={view} />
      <KeySection view={view} newKey={newKey} onMade={setNewKey} />
      <SnippetsSection view={view} apiKey={newKey?.key} />
      <ModelsSection view={view} />
    </Page>
  )
}
