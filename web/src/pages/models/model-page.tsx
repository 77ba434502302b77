import type { ModelView } from '@contract/console-models.ts'
import { Alert, Group, Stack, Switch, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Facts } from '../../ui/facts.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { SourceBadge } from './badges.tsx'
import { ModelDeployment } from './model-deployment.tsx'
import { Availability } from './models-page.tsx'
import { modelQuery } from './routes.tsx'
import { Tag } from './tag.tsx'
import { useEnable } from './use-catalogue.ts'

const route = getRouteApi('/shell/operator/models/$modelId')

/** One model: its facts, its deployments, and the prices of each with their dates. */
export function ModelPage() {
  const { t } = useTranslation('models')
  const { modelId } = route.useParams()
  const { data: model } = useSuspenseQuery(modelQuery(modelId))
  return (
    <Page
      title={model.id}
      description={
        <AnchorLink size="sm" to="/operator/models">
          {t('allModels')}
        </AnchorLink>
      }
      actions={<EnabledSwitch model={model} />}
    >
      <ModelFacts model={model} />
      <DisablingOrganisations model={model} />
      <Section title={t('deployments.title')} description={t('pricesText')}>
        {model.deploymentsList.length === 0 && (
          <EmptyState
            title={t('noDeployment')}
            text={t('noDeploymentText')}
            action={<AnchorLink to="/operator/providers">{t('providers.title')}</AnchorLink>}
          />
        )}
        <Stack gap="xl">
          {model.deploymentsList.map((deployment) => (
            <ModelDeployment key={deployment.id} deployment={deployment} />
          ))}
        </Stack>
      </Section>
    </Page>
  )
}

function ModelFacts({ model }: { model: ModelView }) {
  const { t } = useTranslation('models')
  const format = useFormat()
  const items = [
    { label: t('available'), value: <Availability callableIds={model.callableIds} /> },
    { label: t('kindLabel'), value: t(`kind.${model.kind}`) },
    { label: t('aliases'), value: model.aliases.join(', ') || '–' },
    { label: t('ownedBy'), value: model.ownedBy },
    {
      label: t('contextTokens'),
      value: t('tokens', { count: model.contextTokens, value: format.number(model.contextTokens) }),
    },
    {
      label: t('maxOutputTokens'),
      value:
        model.kind === 'chat'
          ? t('tokens', { count: model.maxOutputTokens, value: format.number(model.maxOutputTokens) })
          : '–',
    },
    { label: t('dimensions'), value: model.dimensions === null ? undefined : format.number(model.dimensions) },
    { label: t('tierLabel'), value: t(`tier.${model.tier}`) },
    { label: t('plansLabel'), value: model.plans.map((plan) => t(`plan.${plan}`)).join(', ') },
    { label: t('retiresAt'), value: model.retiresAt === null ? undefined : format.date(model.retiresAt) },
    { label: t('declaredIn'), value: <SourceBadge source={model.origin} /> },
  ]
  return <Facts items={items} columns={{ sm: 4 }} />
}

function EnabledSwitch({ model }: { model: ModelView }) {
  const { t } = useTranslation('models')
  const change = useEnable(`/api/models/${encodeURIComponent(model.id)}`, model)
  return (
    <Switch
      label={model.enabled ? t('enabled') : t('disabled')}
      checked={model.enabled}
      disabled={change.isPending}
      onChange={(event) => change.mutate(event.currentTarget.checked)}
    />
  )
}

function DisablingOrganisations({ model }: { model: ModelView }) {
  const { t } = useTranslation('models')
  if (model.disabledBy === 0) return null
  return (
    <Alert color="gray" title={t('disabledByTitle', { count: model.disabledBy })}>
      <Group gap={6}>
        {model.disablingOrganisations.map(({ id, name }) => (
          <Tag key={id}>{name}</Tag>
        ))}
        {model.disabledBy > model.disablingOrganisations.length && (
          <Text size="sm">{t('andMore', { count: model.disabledBy - model.disablingOrganisations.length })}</Text>
        )}
      </Group>
    </Alert>
  )
}
