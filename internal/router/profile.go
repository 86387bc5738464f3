package router

import "slices"

// use notes that an entity needs these files of a TLS profile, and tells whether they are there. No name is no profile, and fine.
func (c *config) use(name string, needs Profile) bool {
	if !c.canUse(name, needs) {
		return false
	}
	c.want(name, needs)
	return true
}

func (c *config) canUse(name string, needs Profile) bool {
	if name == "" {
		return true
	}
	has, ok := find(c.have, name)
	return ok && (has.CA || !needs.CA) && (has.Cert || !needs.Cert) && (has.Key || !needs.Key)
}

// want notes that an entity takes these files of a TLS profile where they are there.
func (c *config) want(name string, files Profile) {
	if name != "" {
		files.Name = name
		c.used = append(c.used, files)
	}
}

// profiles adds the TLS profiles that entities use, each with the files that any of them wants: where a Link and a Connector
// come to the same name, the Link's certificate must be in it.
func (c *config) profiles() {
	for _, has := range c.have {
		var wants Profile
		for _, u := range c.used {
			if u.Name == has.Name {
				wants = Profile{has.Name, wants.CA || u.CA, wants.Cert || u.Cert, wants.Key || u.Key}
			}
		}
		if wants.Name == "" {
			continue
		}
		e := Entity{Type: "sslProfile", Name: has.Name}
		if has.Cert && has.Key && wants.Cert {
			e.set("certFile", c.file(has.Name, "tls.crt"))
			e.set("privateKeyFile", c.file(has.Name, "tls.key"))
		}
		if has.CA && wants.CA {
			e.set("caCertFile", c.file(has.Name, "ca.crt"))
		}
		c.add(e)
	}
}

func find(profiles []Profile, name string) (Profile, bool) {
	i := slices.IndexFunc(profiles, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, false
	}
	return profiles[i], true
}

// proxy adds the proxy's profile, once, and tells whether there is one of that name. No name is no proxy, and fine.
func (c *config) proxy(name string) bool {
	if name == "" || slices.ContainsFunc(c.entities, func(e owned) bool { return e.Type == "proxyProfile" && e.Name == name }) {
		return true
	}
	i := slices.IndexFunc(c.proxies, func(p Proxy) bool { return p.Name == name })
	if i < 0 {
		return false
	}
	p := c.proxies[i]
	e := Entity{Type: "proxyProfile", Name: name}
	e.text("host", p.Host)
	e.text("port", p.Port)
	e.text("username", p.Username)
	if p.Password {
		e.set("password", "file:"+c.file(name, "password.txt"))
	}
	c.add(e)
	return true
}

func (c *config) file(profile, name string) string {
	return c.id.Base + "/runtime/certs/" + profile + "/" + name
}
