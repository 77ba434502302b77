import { Menu, useMantineColorScheme } from '@mantine/core'
import { IconLanguage, IconLogout, IconMoon, IconSettings, IconSun } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { postJson } from '../api/client.ts'
import { changeLanguage, languages } from '../i18n/translations.ts'
import { forgetAsked } from '../pages/own-chats/asked-question.ts'
import { signInAddress } from './sign-in-address.ts'

/** The entries of the account menu, which load when it is about to open. */
export function AccountEntries() {
  const { t, i18n } = useTranslation()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const isDark = colorScheme === 'dark'
  return (
    <>
      <Menu.Item component={Link} to={'/account'} leftSection={<IconSettings size={16} aria-hidden />}>
        {t('account.settings')}
      </Menu.Item>
      <Menu.Item
        leftSection={isDark ? <IconSun size={16} aria-hidden /> : <IconMoon size={16} aria-hidden />}
        onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
      >
        {isDark ? t('account.light') : t('account.dark')}
      </Menu.Item>
      {languages
        .filter(({ code }) => code !== i18n.language)
        .map(({ code, name }) => (
          <Menu.Item
            key={code}
            lang={code}
            leftSection={<IconLanguage size={16} aria-hidden />}
            onClick={() => void changeLanguage(code)}
          >
            {name}
          </Menu.Item>
        ))}
      <Menu.Divider />
      <SignOutItem />
    </>
  )
}

function SignOutItem() {
  const { t } = useTranslation()
  const signOut = async () => {
    await postJson('/api/auth/sign-out', {})
    forgetAsked()
    // Another document: nothing of this person stays in memory.
    globalThis.location.replace(signInAddress())
  }
  return (
    <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void signOut()}>
      {t('account.signOut')}
    </Menu.Item>
  )
}
