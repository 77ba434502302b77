import type { DeploymentState, DeploymentView, ProviderView } from '@contract/console-models.ts'
import { Badge, Group, Tooltip } from '@mantine/core'
import { useTranslation } from 'react-i18next'

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
    <Tooltip label={t(`stateText.${state}`)} multiline maw={320}>
      <Badge variant={state === 'open' ? 'filled' : 'light'} color={stateColors[state]} tt="none">
        {t(`state.${state}`)}
      </Badge>
    </Tooltip>
  )
}

type Source = ProviderView['declaredIn'] | DeploymentView['declaredIn']

/** Where an entry is declared; `isOverridden`: the operator has changed fields of it. */
export function SourceBadge({ source, isOverridden = false }: { source: Source; isOverridden?: boolean }) {
  const { t } = useTranslation('models')
  return (
    <Group gap={4}>
      <Tooltip label={t(`sourceText.${source}`)} multiline maw={320}>
        <Badge variant="default" tt="none" fw={500}>
          {t(`source.${source}`)}
        </Badge>
      </Tooltip>
      {isOverridden && (
        <Tooltip label={t('overriddenText')} multiline maw={320}>
          <Badge variant="light" tt="none" fw={500}>
            {t('overridden')}
          </Badge>
        </Tooltip>
      )}
    </Group>
  )
}

/** Whether a deployment serves `eu/` ids. */
export function HostingBadge({ hosting, side }: { hosting: string; side: DeploymentView['side'] }) {
  const { t } = useTranslation('models')
  const kind = side ?? 'unclear'
  return (
    <Tooltip label={t(`sideText.${kind}`)} multiline maw={320}>
      <Badge
        variant={side === 'eu' ? 'light' : 'default'}
        color={side === 'eu' ? 'blue' : side === null ? 'orange' : 'gray'}
        tt="none"
        fw={500}
      >
        {hosting === '' ? t('hostingMissing') : side === 'eu' ? 'EU' : hosting}
      </Badge>
    </Tooltip>
  )
}
