import type { DeploymentState, DeploymentView, ProviderView } from '@contract/console-models.ts'
import { Group } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Tag } from './tag.tsx'

const stateColors: Record<DeploymentState, string> = {
  open: 'red',
  half_open: 'orange',
  rate_limited: 'orange',
  problem: 'orange',
  avoided: 'orange',
  serving: 'teal',
  idle: 'gray',
  disabled: 'gray',
}

export function StateBadge({ state }: { state: DeploymentState }) {
  const { t } = useTranslation('models')
  return (
    <Tag color={stateColors[state]} text={t(`stateText.${state}`)}>
      {t(`state.${state}`)}
    </Tag>
  )
}

type Source = ProviderView['declaredIn'] | DeploymentView['declaredIn']

/** Where an entry is declared; `isOverridden`: the operator has changed fields of it. */
export function SourceBadge({ source, isOverridden = false }: { source: Source; isOverridden?: boolean }) {
  const { t } = useTranslation('models')
  return (
    <Group gap={4}>
      <Tag text={t(`sourceText.${source}`)}>{t(`source.${source}`)}</Tag>
      {isOverridden && (
        <Tag color="portico" text={t('overriddenText')}>
          {t('overridden')}
        </Tag>
      )}
    </Group>
  )
}

/** Whether a deployment serves `eu/` ids. */
export function HostingBadge({ hosting, side }: { hosting: string; side: DeploymentView['side'] }) {
  const { t } = useTranslation('models')
  return (
    <Tag
      color={side === 'eu' ? 'blue' : side === null ? 'orange' : undefined}
      text={t(`sideText.${side ?? 'unclear'}`)}
    >
      {hosting === '' ? t('hostingMissing') : side === 'eu' ? 'EU' : hosting}
    </Tag>
  )
}
