import { SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { ConsoleOrganisationBody } from '@contract/console-organisations.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Time } from '../../ui/time.tsx'
import { BudgetBar } from './budget-bar.tsx'
import { State } from './gateway-state.tsx'
import { AnchorLink } from '../../ui/link.tsx'

/** The state of an organisation: what it has spent, and why its gateway is open or closed. */
export function OrganisationOverview({ data }: { data: ConsoleOrganisationBody }) {
  const { t } = useTranslation('operator')
  const format = useFormat()
  const { organisation, budget } = data
  const { apiKey, id } = organisation
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="xl">
      <Fact title={t('one.period')}>
        <BudgetBar spentUsd={budget.spentUsd} budgetUsd={budget.budgetUsd} percent={budget.spentPercent} />
        <Dimmed>{t('one.held', { held: format.money(budget.heldUsd), left: format.money(budget.leftUsd) })}</Dimmed>
        <Dimmed>
          {t('one.renews')} <Time value={budget.periodEndsAt} />
        </Dimmed>
      </Fact>
      <Fact title={t('one.gateway')}>
        <State isGood={organisation.plan === 'enterprise'} text={t(`plan.${organisation.plan}`)} />
        <State
          isGood={organisation.gatewayEnabled}
          text={organisation.gatewayEnabled ? t('gateway.enabled') : t('gateway.notEnabled')}
        />
        <State
          isGood={organisation.gatewayOptIn}
          text={organisation.gatewayOptIn ? t('gateway.optedIn') : t('gateway.notOptedIn')}
        />
        <State
          isGood={organisation.subscription.active}
          text={organisation.subscription.active ? t('subscription.active') : t('subscription.inactive')}
        />
      </Fact>
      <Fact title={t('column.key')}>
        {apiKey ? (
          <>
            <Text ff="monospace" size="sm">{`${apiKey.prefix}…${apiKey.lastFour}`}</Text>
            <Dimmed>
              {t('key.created')} <Time value={apiKey.createdAt} />
            </Dimmed>
          </>
        ) : (
          <Dimmed>{t('key.none')}</Dimmed>
        )}
      </Fact>
      <Fact title={t('one.content')}>
        <CountLink to={`/organisations/${id}/spaces`} text={t('one.spaces', { count: data.spaces })} />
        <CountLink
          to={`/organisations/${id}/published-spaces`}
          text={t('one.published', { count: data.publishedSpaces })}
        />
        <CountLink to={`/organisations/${id}/members`} text={t('one.members', { count: data.members })} />
        {data.openInvitations > 0 && <Dimmed>{t('one.invitations', { count: data.openInvitations })}</Dimmed>}
      </Fact>
    </SimpleGrid>
  )
}

function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap={6}>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      {children}
    </Stack>
  )
}

function CountLink({ to, text }: { to: string; text: string }) {
  return (
    <AnchorLink to={to as '/'} size="sm">
      {text}
    </AnchorLink>
  )
}
