import { Alert, Text } from '@mantine/core'
import { IconTrendingDown } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { GoldenRegressionBody } from '@contract/golden-questions.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { AnchorLink } from '../../ui/link.tsx'
import { spaceRoute } from '../spaces/space-route.tsx'

/** Questions that got worse in a scheduled run, until they pass again. */
export function RegressionNotice({ regression }: { regression: GoldenRegressionBody | null }) {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  const { organisationId, spaceId } = spaceRoute.useParams()
  if (!regression) return null
  const { runId, endedAt, worse } = regression
  return (
    <Alert
      color="red"
      icon={<IconTrendingDown aria-hidden />}
      title={t('regression.title', { count: worse, n: format.number(worse) })}
    >
      <Text size="sm">{t('regression.text', { time: format.dateTime(endedAt) })}</Text>
      <AnchorLink
        to="/organisations/$organisationId/spaces/$spaceId/golden-questions/runs/$runId"
        params={{ organisationId, spaceId, runId }}
        search={{ only: 'worse' }}
        size="sm"
        fw={600}
      >
        {t('regression.show')}
      </AnchorLink>
    </Alert>
  )
}
