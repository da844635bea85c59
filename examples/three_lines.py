import salvo


@salvo.bot
def fire(view):
    return view.untouched.sample(view.shots)  # a complete, legal bot


salvo.run(fire)
