import { Code, Table } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { PeopleView } from '@contract/console-people.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { ButtonLink } from '../../ui/link.tsx'
import { Section } from '../../ui/section.tsx'

/** With what settings people sign in at the provider. */
export function SingleSignOnState({ view }: { view: PeopleView }) {
  const { t } = useTranslation('accounts')
  const format = useFormat()
  const { singleSignOn: settings, passwordSignIn } = view
  const actions = (
    <ButtonLink to="/operator/single-sign-on" variant="default">
      {t('sso.open')}
    </ButtonLink>
  )
  if (!settings)
    return (
      <Section title={t('sso.title')} actions={actions}>
        <Dimmed>{t('sso.off')}</Dimmed>
      </Section>
    )
  const yesNo = (value: boolean) => (value ? t('yes') : t('no'))
  const rows = [
    [t('sso.name'), settings.name],
    [t('sso.issuer'), <Code key="issuer">{settings.issuer}</Code>],
    [t('sso.clientId'), <Code key="client">{settings.clientId}</Code>],
    [t('sso.groups'), t('sso.groupsOf', { claim: settings.groupsClaim, number: format.number(settings.mappedGroups) })],
    [t('sso.createAccounts'), yesNo(settings.createAccounts)],
    [t('sso.domains'), settings.allowedEmailDomains.join(', ') || t('sso.allDomains')],
    [t('sso.session'), t('sso.hours', { number: format.number(settings.sessionHours) })],
    [t('sso.passwords'), yesNo(passwordSignIn)],
  ] as const
  return (
    <Section title={t('sso.title')} description={t('sso.text')} actions={actions}>
      <Table aria-label={t('sso.title')} maw={720} verticalSpacing={6}>
        <Table.Tbody>
          {rows.map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th fw={500} w={{ base: 140, sm: 240 }}>
                {label}
              </Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  )
}
